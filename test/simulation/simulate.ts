/**
 * Runs one scenario: the traffic with its faults, then a quiet time in which everything that was promised is delivered,
 * then sweeps until nothing is left to do.
 */

import { randomFor } from "../../testkit/random.ts";
import { Actors } from "./actors.ts";
import * as clock from "./clock.ts";
import { Faults } from "./faults.ts";
import * as log from "./functionsSdk.ts";
import { Database } from "./model/database.ts";
import type { Network } from "./model/network.ts";
import type { Micros } from "./model/values.ts";
import { isCounter, Oracle } from "./oracle/oracle.ts";
import type { Violation } from "./oracle/violation.ts";
import { Platform } from "./platform.ts";
import { type Action, ORDERS, type Scenario } from "./scenario.ts";
import { type Process, Scheduler } from "./scheduler.ts";

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
const SWEEP_EVERY = 300 * SECOND;

/** Reads of a sweep that finds nothing: one query for what is to be reconciled, one for what is polled. */
const IDLE_SWEEP = 2;

/** Ten seconds before 2026: an hour ends while people write. */
const START: Micros = (1_767_225_600 - 10) * SECOND;

export interface Outcome {
  readonly violation: Violation | undefined;
  /** What happened, a line each; kept only if asked for. */
  readonly history: readonly string[];
  readonly commits: number;
  readonly publishes: number;
  /** Faults injected, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** Replays that the client could not recognize, because their mark had gone. */
  readonly unrecognized: number;
}

export async function simulate(scenario: Scenario, { keepHistory = false } = {}): Promise<Outcome> {
  const { seed, config, actions } = scenario;
  const scheduler = new Scheduler(START);
  clock.start(scheduler, randomFor(seed, "chance"));
  const faults = new Faults(scenario.faults, scenario.faultRate, scenario.latency);
  const oracle = new Oracle(scenario, ({ message }) => {
    record("oracle", () => message);
    scheduler.isOver = true;
  });
  const history: string[] = [];
  const record = (who: string, text: () => string) => {
    if (keepHistory && !scheduler.isOver)
      history.push(`${((scheduler.now - START) / 1_000).toFixed(3).padStart(12)} ms  ${who}: ${text()}`);
  };
  const counts = { commits: 0, publishes: 0, reads: 0 };
  const network: Network = {
    scheduler,
    database: new Database(),
    faults,
    lag: scenario.margin,
    index: scenario.index,
    onCommit(commit) {
      counts.commits++;
      for (const { after } of commit.changes) {
        if (isCounter(after.path, config)) counts.publishes++;
        record(commit.process.name, () => `  ${after.path} = ${JSON.stringify(after.fields)}`);
      }
      oracle.onCommit(commit);
      platform.onCommit(commit);
    },
    onRead: (_process, documents) => {
      counts.reads += documents;
    },
    onTransaction: (process, paths) => oracle.onTransaction(process, paths),
    log: (process, text) => record(process.name, text),
  };
  const onInstance = (process: Process) => oracle.expect(process, { kind: "none" });
  const platform = new Platform(network, scenario, onInstance);
  const actors = new Actors(network, oracle, seed);
  log.logTo((message, data) => {
    // What is said without data is said once for each instance of the functions, and all runs share this one.
    if (data !== undefined) record("log", () => `${message} ${JSON.stringify(data)}`);
  });
  for (const action of actions) {
    scheduler.in(action.at, () => {
      record("scenario", () => describe(action));
      perform(action, platform, actors);
    });
  }

  // Traffic, and ten minutes in which most of what is late arrives, still under faults.
  await scheduler.runUntil(START + (actions.at(-1)?.at ?? 0) + 600 * SECOND);
  faults.isOn = false;
  // A crowd's events, one by one in a world where each call takes seconds, need hours.
  await scheduler.runUntil(scheduler.now + 24 * HOUR);
  record("oracle", () => "everything has been delivered");
  oracle.atRest((counter) => network.database.get(`${config.collection}/${counter}`).fields);
  // Sweeps alone: counters shrink, shards are folded.
  for (let i = 0; i < 8; i++) await sweepOnce();
  actors.atEnd(
    (counter, key) => network.database.get(`${config.collection}/${counter}/entries/${key}`).fields !== undefined,
  );
  oracle.atRest((counter) => network.database.get(`${config.collection}/${counter}`).fields);
  oracle.increments.atEnd();
  if (network.database.get(`${config.collection}/${ORDERS.counter}`).fields?.nextReconcileAt) {
    if (scenario.margin === 0) oracle.drifts.atEnd();
  } else {
    counts.reads = 0;
    const before = counts.commits;
    await sweepOnce();
    if (counts.reads !== IDLE_SWEEP || counts.commits > before) {
      oracle.fail("I7", `an idle sweep read ${counts.reads} documents and made ${counts.commits - before} commits`);
    }
  }
  return {
    violation: oracle.violation,
    history,
    commits: counts.commits,
    publishes: counts.publishes,
    faults: { ...faults.injected, ...platform.struck },
    unrecognized: oracle.increments.unrecognized,
  };

  async function sweepOnce(): Promise<void> {
    platform.sweep();
    await scheduler.runUntil(scheduler.now + SWEEP_EVERY);
  }
}

function perform(action: Action, platform: Platform, actors: Actors): void {
  if (action.does === "sweep") platform.sweep();
  else if (action.does === "kill") platform.kill(action.instance);
  else if (action.does === "freeze") platform.freeze(action.instance, action.seconds * SECOND);
  else actors.act(action);
}

export function describe({ at: _, does, ...rest }: Action): string {
  const details = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return [does, ...details].join(", ");
}
