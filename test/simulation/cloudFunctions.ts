/**
 * Cloud Functions, Eventarc, Cloud Tasks and Cloud Scheduler, with the guarantees of their documentation and no others:
 * `testkit/production` has them. Instances start, crash and freeze.
 */
import type { Firestore as RealFirestore } from "firebase-admin/firestore";
import type { Functions } from "firebase-admin/functions";
import type { Backend } from "../../functions/src/counter/backend.ts";
import type { CounterTask } from "../../functions/src/counter/cause.ts";
import { ALL_FEATURES } from "../../functions/src/deploy/allFeatures.ts";
import { FUNCTIONS } from "../../functions/src/deploy/functions.ts";
import { cloudTasks } from "../../functions/src/deploy/queue.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { runTask } from "../../functions/src/deploy/runTask.ts";
import { FEATURES } from "../../functions/src/features/features.ts";
import { FEATURE_PLANS } from "../../functions/src/features/plans.ts";
import type { OtherRegion } from "../../functions/src/features/regions/connect.ts";
import { exchangeCounter } from "../../functions/src/features/regions/exchange.ts";
import { sourceOf } from "../../functions/src/features/regions/push.ts";
import type { DocumentEvent, DocumentTrigger, Settings } from "../../functions/src/shared/feature.ts";
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
import { DocumentSnapshot } from "./model/reads.ts";
import type { Micros } from "./model/values.ts";
import { call, planted } from "./mutations/mutation.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { Process } from "./scheduler.ts";

const MS = 1_000;
const SECOND = 1_000 * MS;

type Handle = (event: DocumentEvent) => Promise<void>;

interface Instance {
  readonly process: Process;
  readonly backend: Backend;
  readonly firestore: Firestore;
  /** The handlers of documents, by function. */
  readonly handlers: ReadonlyMap<string, Handle>;
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

  /** Firestore's triggers, and the handlers that the functions have for them. */
  onCommit({ changes }: Commit): void {
    for (const change of changes)
      for (const [name, { trigger }] of FUNCTIONS)
        if ("path" in trigger && this.#isTriggered(name, trigger, change)) this.#deliver(name, change);
  }

  #isTriggered(name: string, { on, root, path }: DocumentTrigger, { before, after }: Change): boolean {
    const { collection, collections, adopted } = this.#config;
    const isOff = name === "shardupdated" && !adopted;
    const roots: Readonly<Record<string, string | undefined>> = {
      COLLECTION: collection,
      COUNTED_COLLECTION: collections?.join("/"),
    };
    if (isOff || (root !== undefined && roots[root] === undefined)) return false;
    const [had, has] = [before.fields !== undefined, after.fields !== undefined];
    const hasHappened = { created: !had && has, updated: had && has, deleted: had && !has, written: had || has }[on];
    return hasHappened && isMatch(root === undefined ? path : `${roots[root]}/${path}`, after.path);
  }

  #deliver(name: string, change: Change): void {
    const { before, after } = change;
    const { faults, scheduler, log } = this.#network;
    const what = `event ${name} ${after.path}`;
    const delays = eventDelays(this.#process.random, faults.rate, faults.inject);
    if (isEventLost(eventBytes(before.fields, after.fields))) {
      log(this.#process, () => `${what} is lost: it is too large`);
      this.injected["events too large"] = (this.injected["events too large"] ?? 0) + 1;
      return;
    }
    const time = new Date(after.updateTime / MS).toISOString();
    const handle = async (instance: Instance) => {
      const snapshotOf = (version: Version) =>
        version.fields && new DocumentSnapshot(instance.firestore.doc(after.path), version, after.updateTime);
      const event = { before: snapshotOf(before), after: snapshotOf(after), time } as unknown as DocumentEvent;
      const handler = instance.handlers.get(name) as Handle;
      const { backend } = instance;
      await (planted.event?.(event, handler, { name, change, backend }) ?? handler(event));
    };
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
    const connect = (network: Network) => new Firestore(new Connection(network, process));
    const modelled = connect(this.#network);
    const firestore = modelled as unknown as RealFirestore;
    const others = [...this.#otherRegions].map(([name, network]): [string, OtherRegion] => {
      return [
        name,
        {
          counters: (connect(network) as unknown as RealFirestore).collection(this.#config.collection),
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
      firestore: modelled,
      handlers: new Map(
        ALL_FEATURES.flatMap(({ onDocument = {} }) => Object.entries(onDocument)).map(([name, create]) => [
          name,
          create(backend),
        ]),
      ),
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

/** Whether a path is that of a pattern, such as `counters/{id}/shards/0`. */
function isMatch(pattern: string, path: string): boolean {
  let regex = regexes.get(pattern);
  if (!regex) {
    const segments = pattern.replace("{document=**}", ".+").replaceAll(/\{\w+\}/g, "[^/]+");
    regex = new RegExp(`^${segments}$`);
    regexes.set(pattern, regex);
  }
  return regex.test(path);
}

const regexes = new Map<string, RegExp>();

/** The task in the printed history. */
function nameOf({ counterId, due, kind, failingSince }: CounterTask): string {
  return `${kind}${failingSince === undefined ? "" : ", another attempt,"} ${counterId} ${due}`;
}
