/**
 * Runs one scenario: first the traffic with its faults, then a quiet time in which every late delivery arrives, then sweeps
 * until every counter is idle.
 */

import type { DocumentReference } from "firebase-admin/firestore";
import { FEATURE_PLANS } from "../../functions/src/features/plans.ts";
import { type Callers, createCallers } from "./callers/callers.ts";
import { startClock } from "./clock.ts";
import { CloudFunctions } from "./cloudFunctions.ts";
import { FAILING_STEPS } from "./failingSteps.ts";
import { Faults } from "./faults.ts";
import * as log from "./functionsSdk.ts";
import { createNetwork } from "./model/createNetwork.ts";
import { setDirectPolicy } from "./model/directRules.ts";
import type { Micros } from "./model/values.ts";
import { type Mutation, plant } from "./mutations/mutation.ts";
import { isCounter, Oracle } from "./oracle/oracle.ts";
import type { Violation } from "./oracle/violation.ts";
import { type Action, BRIDGED, ORDERS, type Scenario } from "./scenario/scenario.ts";
import { type Process, Scheduler } from "./scheduler.ts";

/** What the functions log before they publish without features. */
const LEFT_OUT = "a publish is made without an optional feature";

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
const SWEEP_EVERY = 300 * SECOND;

/** Reads of an idle sweep: queries for counters to reconcile and to poll, for visitors, for items and for legacy shards. */
const IDLE_SWEEP_READS = 5;

/** Ten seconds before 2026, so that an hour, a day and a year end during the traffic. */
const START: Micros = (1_767_225_600 - 10) * SECOND;

export interface Outcome {
  readonly violation: Violation | undefined;
  /** A line for each step; empty without `keepHistory`. */
  readonly history: readonly string[];
  readonly commits: number;
  readonly publishes: number;
  /** Faults injected, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** From the commit of each write until its publish, in milliseconds. */
  readonly lateness: readonly number[];
  /** Replays that were not recognized, because their mark had been removed when it was old enough. */
  readonly unrecognizedReplays: number;
}

export interface Options {
  readonly keepHistory?: boolean;
  readonly mutation?: Mutation | undefined;
}

export async function simulate(scenario: Scenario, { keepHistory = false, mutation }: Options = {}): Promise<Outcome> {
  plant(mutation);
  const { seed, config, actions } = scenario;
  const scheduler = new Scheduler(START);
  const faults = new Faults(scenario.faults, scenario.faultRate, scenario.latency);
  startClock(scheduler, seed, faults);
  const deployed = { ...config, plans: FEATURE_PLANS };
  setDirectPolicy((id) => {
    const state = { ref: { id } as DocumentReference };
    return config.direct && !FEATURE_PLANS.some((plan) => plan.needsPublishes?.(state, deployed));
  });
  const oracle = new Oracle(scenario, ({ message }) => {
    record("oracle", () => message);
    scheduler.isStopped = true;
  });
  const history: string[] = [];
  const record = (name: string, text: () => string) => {
    if (keepHistory && !scheduler.isStopped)
      history.push(`${((scheduler.now - START) / 1_000).toFixed(3).padStart(12)} ms  ${name}: ${text()}`);
  };
  const failures: Record<string, number> = {};
  const counts = { commits: 0, publishes: 0, reads: 0 };
  const network = createNetwork({
    scheduler,
    faults,
    snapshotLag: scenario.snapshotLag,
    index: scenario.index,
    isFailing(writes) {
      const { failing } = scenario;
      const fails = faults.isEnabled && failing !== undefined && FAILING_STEPS[failing](writes);
      if (fails) failures[failing] = (failures[failing] ?? 0) + 1;
      return fails;
    },
    onCommit(commit) {
      counts.commits++;
      for (const { after } of commit.changes) {
        if (isCounter(after.path, config)) counts.publishes++;
        record(commit.process.name, () => `  ${after.path} = ${JSON.stringify(after.fields)}`);
      }
      oracle.onCommit(commit);
      functions.onCommit(commit);
    },
    onRead: (_process, documents) => {
      counts.reads += documents;
    },
    onTransaction: (process, paths) => oracle.onTransaction(process, paths),
    log: (process, text) => record(process.name, text),
  });
  const onInstance = (process: Process) => oracle.setIntent(process, { kind: "none" });
  const functions = new CloudFunctions(network, scenario, onInstance);
  const callers = createCallers(network, oracle, seed);
  log.logTo((message, data) => {
    // Lines without data are logged once for each process, and all runs share one process.
    if (message === LEFT_OUT) oracle.leftOut((data as { counter: string }).counter);
    if (data !== undefined) record("log", () => `${message} ${JSON.stringify(data)}`);
  });
  for (const action of actions) {
    scheduler.after(action.at, () => {
      record("scenario", () => describe(action));
      perform(action, functions, callers);
    });
  }

  // The traffic, and ten more minutes with faults, in which most late deliveries arrive.
  await scheduler.runUntil(START + (actions.at(-1)?.at ?? 0) + 600 * SECOND);
  faults.isEnabled = false;
  // Each call of a crowd's events may take seconds, so their delivery needs hours.
  await scheduler.runUntil(scheduler.now + 24 * HOUR);
  record("oracle", () => "every event and task was delivered");
  oracle.checkAllPublished((counter) => network.database.get(`${config.collection}/${counter}`).fields);
  // Before the sweeps, which would handle what is left.
  const pending = network.database.below(`${BRIDGED.document}/_counter_shards_`);
  oracle.bridge.atEnd((path) => network.database.get(path).fields, pending.length);
  oracle.visitors.atEnd();
  oracle.topItems.atEnd();
  // Sweeps alone shrink counters and fold shards.
  for (let i = 0; i < 8; i++) await sweepOnce();
  callers.atEnd();
  const hasEntry = (counter: string, once: string) =>
    network.database.get(`${config.collection}/${counter}/tallyEntries/${once}`).fields !== undefined;
  oracle.onceIncrements.atEnd(hasEntry, !!faults.injected["calls that arrive late"]);
  oracle.checkAllPublished((counter) => network.database.get(`${config.collection}/${counter}`).fields);
  oracle.increments.atEnd();
  oracle.stock.atEnd();
  oracle.mirrors.atEnd();
  if (network.database.get(`${config.collection}/${ORDERS.counter}`).fields?.nextReconcileAt) {
    if (scenario.snapshotLag === 0) oracle.drift.atEnd();
  } else {
    counts.reads = 0;
    const before = counts.commits;
    await sweepOnce();
    if (counts.reads !== IDLE_SWEEP_READS || counts.commits > before) {
      oracle.fail("I7", `an idle sweep read ${counts.reads} documents and made ${counts.commits - before} commits`);
    }
  }
  return {
    violation: oracle.violation,
    history,
    commits: counts.commits,
    publishes: counts.publishes,
    faults: { ...faults.injected, ...functions.injected, ...failures },
    lateness: oracle.lateness.millis,
    unrecognizedReplays: oracle.increments.unrecognizedReplays,
  };

  async function sweepOnce(): Promise<void> {
    functions.sweep();
    await scheduler.runUntil(scheduler.now + SWEEP_EVERY);
  }
}

function perform(action: Action, functions: CloudFunctions, callers: Callers): void {
  if (action.does === "sweep") functions.sweep();
  else if (action.does === "kill") functions.kill(action.instance);
  else if (action.does === "freeze") functions.freeze(action.instance, action.seconds * SECOND);
  else callers.act(action);
}

function describe({ at: _, does, ...rest }: Action): string {
  const details = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return [does, ...details].join(", ");
}
