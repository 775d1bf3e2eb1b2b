/**
 * Cloud Functions, Eventarc, Cloud Tasks and Cloud Scheduler, with the guarantees of their documentation and no others:
 * `testkit/production` has them. Instances start, crash and freeze.
 */
import type { Firestore as RealFirestore } from "firebase-admin/firestore";
import type { Functions } from "firebase-admin/functions";
import { counterIdOf, ITEM_COUNTS, VISITORS } from "../../core/src/index.ts";
import type { Backend } from "../../functions/src/counter/backend.ts";
import type { CounterTask, WriteEvent } from "../../functions/src/counter/cause.ts";
import { TRIGGER_SHARDS } from "../../functions/src/counter/shards.ts";
import { createWakeHandler, hasCounted } from "../../functions/src/counter/wake.ts";
import { cloudTasks } from "../../functions/src/deploy/queue.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { runTask } from "../../functions/src/deploy/runTask.ts";
import { createBridgeHandler, type LegacyWrite } from "../../functions/src/features/bridge/moveIncrements.ts";
import { latestDeletionTime } from "../../functions/src/features/collections/events.ts";
import { FEATURES } from "../../functions/src/features/features.ts";
import { itemMerging } from "../../functions/src/features/items/mergeItems.ts";
import { FEATURE_PLANS } from "../../functions/src/features/plans.ts";
import { sourceOf } from "../../functions/src/features/regions/bring.ts";
import type { OtherRegion } from "../../functions/src/features/regions/connect.ts";
import { exchangeCounter } from "../../functions/src/features/regions/exchange.ts";
import { visitorMerging } from "../../functions/src/features/visitors/mergeVisitors.ts";
import type { Settings } from "../../functions/src/shared/feature.ts";
import { createMergeHandler, type PendingEvent } from "../../functions/src/shared/merge.ts";
import { eventBytes, eventDelays, isEventLost } from "../../testkit/production/events.ts";
import {
  EVENT_RETRIES,
  INVOCATION_TIMEOUT,
  type Retries,
  retryAfter,
  TASK_RETRIES,
} from "../../testkit/production/invocations.ts";
import { creationOutcome, TaskNames, taskDelays } from "../../testkit/production/tasks.ts";
import { Firestore } from "./model/adminSdk.ts";
import type { Change, Version } from "./model/database.ts";
import { type Commit, Connection, type Network } from "./model/network.ts";
import type { Micros } from "./model/values.ts";
import { call, planted } from "./mutations/mutation.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { Process } from "./scheduler.ts";

const MS = 1_000;
const SECOND = 1_000 * MS;

interface Instance {
  readonly process: Process;
  readonly backend: Backend;
  readonly wake: (event: WriteEvent) => Promise<void>;
  readonly bridge: (write: LegacyWrite) => Promise<void>;
  readonly visitors: (event: PendingEvent) => Promise<void>;
  readonly items: (event: PendingEvent) => Promise<void>;
  /** Fails the invocations that are in progress, when the instance crashes. */
  readonly failInvocations: Set<() => void>;
}

export class CloudFunctions {
  readonly #network: Network;
  #config: Settings;
  readonly #snapshotLag: Micros;
  readonly #seed: number;
  readonly #onInstance: (process: Process) => void;
  #otherRegions: ReadonlyMap<string, Network>;
  readonly #process: Process;
  readonly #instances: Instance[] = [];
  #started = 0;
  /** Crashes and freezes of instances, and events that were too large. */
  readonly injected: Record<string, number> = {};
  readonly #taskNames = new TaskNames();

  /** @param otherRegions  the networks to the other regions, by name */
  constructor(
    network: Network,
    scenario: Pick<Scenario, "config" | "snapshotLag" | "seed" | "instances">,
    onInstance: (process: Process) => void,
    otherRegions: ReadonlyMap<string, Network> = new Map(),
  ) {
    this.#network = network;
    this.#otherRegions = otherRegions;
    this.#config = scenario.config;
    this.#snapshotLag = scenario.snapshotLag;
    this.#seed = scenario.seed;
    this.#onInstance = onInstance;
    this.#process = new Process("platform", scenario.seed);
    for (let i = 0; i < scenario.instances; i++) this.#instances.push(this.#start());
  }

  /** Firestore's triggers: those of the counter, and of the features that are simulated. */
  onCommit({ changes }: Commit): void {
    const shard = ({ fields }: Version) => ({ get: (field: string) => fields?.[field] });
    for (const change of changes) {
      const { before, after } = change;
      const [collection, counterId = "", shards, shardId] = after.path.split("/");
      const committedAt = after.updateTime / MS;
      if (collection === this.#config.collection && shards === "shards" && shardId && after.fields) {
        const isNew = !before.fields;
        const triggers = TRIGGER_SHARDS.includes(shardId) || this.#config.adopted;
        if (isNew || (triggers && hasCounted(shard(before), shard(after))))
          this.#deliver(change, `event ${shardId}`, wakeFor({ counterId, shardId, isNew, committedAt }, change));
      }
      if (collection === this.#config.collection && shards === VISITORS && after.fields)
        this.#deliver(change, `event ${after.path}`, ({ visitors }) => visitors({ counterId, committedAt }));
      if (collection === this.#config.collection && shards === ITEM_COUNTS && after.fields)
        this.#deliver(change, `event ${after.path}`, ({ items }) => items({ counterId, committedAt }));
      if (shards === "_counter_shards_" && after.fields)
        this.#deliver(change, `event ${after.path}`, ({ bridge }) =>
          bridge({ document: `${collection}/${counterId}`, committedAt }),
        );
      const counted = collection && counterIdOf(collection, this.#config.collections);
      if (!counted || !before.fields === !after.fields) continue;
      const time = new Date(committedAt).toISOString();
      this.#deliver(change, `event ${after.path}`, (instance) => {
        const at = after.fields ? committedAt : latestDeletionTime(time, instance.backend.now());
        return wakeFor({ counterId: counted, committedAt: at }, change)(instance);
      });
    }
  }

  #deliver({ before, after }: Change, what: string, handle: (instance: Instance) => Promise<void>): void {
    const { faults, scheduler, log } = this.#network;
    const delays = eventDelays(this.#process.random, faults.rate, faults.inject);
    if (isEventLost(eventBytes(before.fields, after.fields))) {
      log(this.#process, () => `${what} is lost: it is too large`);
      this.injected["events too large"] = (this.injected["events too large"] ?? 0) + 1;
      return;
    }
    for (const delay of delays) scheduler.after(delay * MS, () => this.#run(what, EVENT_RETRIES, handle));
  }

  /** Scheduled invocations have no retries. */
  sweep(): void {
    this.#run("sweep", "no retries", ({ backend }) => runSweep(backend));
  }

  /** Crashes an instance and starts another in its place. */
  kill(index: number): void {
    const at = index % this.#instances.length;
    const { process, failInvocations } = this.#instances[at] as Instance;
    this.#network.log(process, () => "dies");
    this.injected.crashes = (this.injected.crashes ?? 0) + 1;
    process.isDead = true;
    for (const fail of failInvocations) fail();
    this.#instances[at] = this.#start();
  }

  /** Replaces the instances by some of another configuration. What the old ones do goes on. */
  deploy(config: Settings, otherRegions: ReadonlyMap<string, Network>): void {
    this.#config = config;
    this.#otherRegions = otherRegions;
    this.#instances.forEach((_, at) => {
      this.#instances[at] = this.#start();
    });
  }

  /** Ends all instances, and starts no others. */
  remove(): void {
    for (const { process } of this.#instances.splice(0)) process.isDead = true;
  }

  /** What `exchange` of the command line does with a counter, until it has worked. */
  async exchange(counterId: string): Promise<void> {
    const { process, backend } = this.#start();
    const { config, sleep } = backend;
    const exchange = async () =>
      config.regions ? await exchangeCounter(sourceOf(backend), config.regions, counterId) : [];
    const attempt = () => call("exchange", exchange);
    for (let failed = true; failed; ) {
      failed = await attempt().then(
        (regions) => regions.length > 0,
        () => true,
      );
      this.#network.log(process, () => `exchange of ${counterId}: ${failed ? "failed" : "done"}`);
      if (failed) await sleep(10_000);
    }
  }

  freeze(index: number, duration: Micros): void {
    const { process } = this.#instances[index % this.#instances.length] as Instance;
    this.#network.log(process, () => `freezes for ${duration / SECOND} s`);
    this.injected.freezes = (this.injected.freezes ?? 0) + 1;
    process.frozenUntil = this.#network.scheduler.now + duration;
  }

  /** Runs an invocation on a random instance, and retries it after a failure. */
  #run(
    what: string,
    retries: Retries | "no retries",
    invoke: (instance: Instance) => Promise<void>,
    since = this.#network.scheduler.now,
    failures = 0,
  ): void {
    const { scheduler, log } = this.#network;
    if (this.#instances.length === 0) return;
    const instance = this.#process.random.pick(this.#instances);
    let isRunning = true;
    const end = (outcome: string) => {
      log(instance.process, () => `${what}: ${outcome}`);
      isRunning = false;
      instance.failInvocations.delete(fail);
    };
    const fail = () => {
      if (!isRunning) return;
      end("failed");
      if (retries === "no retries") return;
      const wait = retryAfter(failures + 1, (scheduler.now - since) / MS, retries);
      if (wait !== undefined) scheduler.after(wait * MS, () => this.#run(what, retries, invoke, since, failures + 1));
    };
    instance.failInvocations.add(fail);
    log(instance.process, () => `${what}: begins`);
    scheduler.after(INVOCATION_TIMEOUT * MS, fail);
    const run = () => invoke(instance).then(() => isRunning && end("done"), fail);
    scheduler.after(0, run, instance.process);
  }

  #start(): Instance {
    const { scheduler, faults } = this.#network;
    const process = new Process(`instance ${this.#started++}`, this.#seed);
    process.skew = faults.inject("clock skew") ? Math.round(process.random.between(-1, 1) ** 3 * 60 * SECOND) : 0;
    this.#onInstance(process);
    const connect = (network: Network) => new Firestore(new Connection(network, process)) as unknown as RealFirestore;
    const firestore = connect(this.#network);
    const others = [...this.#otherRegions].map(([name, network]): [string, OtherRegion] => {
      return [
        name,
        {
          counters: connect(network).collection(this.#config.collection),
          isFailing: false,
          pausedUntil: 0,
          trial: undefined,
        },
      ];
    });
    const asDeployed: Backend = {
      firestore,
      counters: firestore.collection(this.#config.collection),
      config: { ...this.#config, plans: FEATURE_PLANS },
      features: FEATURES,
      pausedUntil: new Map(),
      connections: { regions: new Map(others) },
      snapshotLag: this.#snapshotLag / MS,
      now: () => Math.floor((scheduler.now + process.skew) / 1_000),
      sleep: (duration) => (duration > 0 ? scheduler.sleep(duration * MS, process) : Promise.resolve()),
      schedule: cloudTasks(this.#taskQueues(process), "anywhere"),
    };
    const backend = planted.backend?.(asDeployed, process) ?? asDeployed;
    return {
      process,
      backend,
      wake: createWakeHandler(backend),
      bridge: createBridgeHandler(backend),
      visitors: createMergeHandler(backend, visitorMerging),
      items: createMergeHandler(backend, itemMerging),
      failInvocations: new Set(),
    };
  }

  /** Replaces `firebase-admin/functions`. */
  #taskQueues(process: Process): Functions {
    const enqueue = async (task: CounterTask, options: { id: string; scheduleTime: Date }): Promise<void> => {
      const { scheduler, faults, log } = this.#network;
      if (process.isDead) return await new Promise(() => {});
      const outcome = creationOutcome(process.random, faults.rate, faults.inject);
      const { requestDelay, responseDelay } = faults.callOutcome(process);
      await scheduler.sleep(requestDelay);
      log(process, () => (outcome === "failed" ? "scheduling fails" : `schedules ${nameOf(task)}`));
      const refusal = outcome === "failed" ? undefined : this.#enqueue(task, options);
      const error = outcome === "created" ? refusal : { code: "functions/internal-error" };
      await scheduler.sleep(responseDelay, process);
      if (error) throw error;
    };
    return { taskQueue: () => ({ enqueue }) } as unknown as Functions;
  }

  #enqueue(task: CounterTask, { id, scheduleTime }: { id: string; scheduleTime: Date }): unknown {
    const { scheduler, faults } = this.#network;
    if (!this.#taskNames.take(id, scheduler.now / MS)) return { code: "functions/task-already-exists" };
    const run = async ({ backend }: Instance) => {
      const handle = () => runTask(backend, task);
      await (planted.task ? planted.task(task, handle, this.#network.database) : handle());
      this.#taskNames.done(id, scheduler.now / MS);
    };
    const due = Math.max(scheduleTime.getTime() * MS - scheduler.now, 0);
    for (const delay of taskDelays(this.#process.random, faults.rate, faults.inject)) {
      scheduler.after(due + delay * MS, () => this.#run(nameOf(task), TASK_RETRIES, run));
    }
    return undefined;
  }
}

/** The handling of an event by an instance. */
function wakeFor(event: WriteEvent, change: Change): (instance: Instance) => Promise<void> {
  return ({ backend, wake }) => (planted.event ? planted.event(event, wake, { change, backend }) : wake(event));
}

/** The task in the printed history. */
function nameOf({ counterId, due, kind, failingSince }: CounterTask): string {
  return `${kind}${failingSince === undefined ? "" : ", another attempt,"} ${counterId} ${due}`;
}
