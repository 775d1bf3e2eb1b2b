/**
 * One approach under one load: clients increment, a watcher sees totals, and both are summed up. Every approach is measured by
 * the same code and definitions.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { OPERATION_KINDS, type Operations, priceOf } from "../costs/src/index.ts";
import { adminAt, client } from "../testkit/clients.ts";
import { PROJECT } from "../testkit/emulators/firebase.ts";
import {
  type Millis,
  type Observation,
  type Percentiles,
  percentilesOf,
  recoveryTime,
  type Second,
  timelineOf,
  visibilityDelays,
} from "../testkit/statistics.ts";
import { APPROACHES, type ApproachName, OTHERS_PROJECT } from "./approaches.ts";
import { dueTimes, type Load } from "./loads.ts";
import type { MeteredEmulators } from "./meteredEmulators.ts";
import { epochNow, Writers } from "./writers.ts";

export interface LoadResult {
  readonly approach: ApproachName;
  readonly load: string;
  readonly offeredPerSecond: number;
  /** Acknowledged per second of the measurement. */
  readonly acceptedPerSecond: number;
  /** From when an increment was due until its promise resolved. */
  readonly acknowledgement: Percentiles;
  /** From the n-th acknowledgement until the watcher's total was n. */
  readonly visibility: Percentiles;
  /** Of a step: until 95 of 100 increments are acknowledged within a second for the rest of the load (`recoveryTime`). */
  readonly recovery?: Millis;
  /** Of a step, second by second; 0 is its beginning. */
  readonly timeline?: readonly Second[];
  /** New totals that the watcher saw, per second of the measurement. */
  readonly totalsPerSecond: number;
  /** Increments, with those before the measurement. */
  readonly offered: number;
  readonly acknowledged: number;
  readonly errors: Readonly<Record<string, number>>;
  /** The sum in the database, and the last total that the watcher saw. */
  readonly total: number;
  readonly visible: number;
  /** Documents that hold the sum. */
  readonly documents: number;
  /** Whether everything acknowledged is in the total, nothing is in it twice, and the watcher saw it. */
  readonly exact: boolean;
  /** Commits that the governor refused. */
  readonly refused: number;
  /** What 1,000 accepted increments used, without what the watcher read. */
  readonly per1000: Operations;
  readonly dollarsPerMillion: number;
  readonly watcherReadsPerSecond: number;
  /** How late increments were made: what the machine could not do. */
  readonly lateness: Percentiles;
}

/** How long to wait for acknowledgements after the last increment, and for totals after the last acknowledgement. */
const GRACE: Millis = 6_000;
/** An acknowledgement within this is prompt: see `recovery`. */
const PROMPT: Millis = 1_000;
/** For commits on their way when the clients have ended. */
const SETTLING: Millis = 200;

let counters = 0;

export async function measureLoad(emulators: MeteredEmulators, name: ApproachName, load: Load): Promise<LoadResult> {
  const approach = APPROACHES[name];
  const { isTally } = approach;
  const project = isTally ? PROJECT : OTHERS_PROJECT;
  const ids = Array.from({ length: load.counters }, () => `bench:${counters++}`);
  const admin = adminAt(emulators.firestore, project);
  await Promise.all(ids.flatMap(approach.documents).map((path) => admin.firestore.doc(path).set({ count: 0 })));

  const instants = dueTimes(load);
  const writers = await Writers.start({
    ...{ approach: name, ids, project, dueTimes: instants, addresses: emulators.writers.addresses },
    ...{ clients: load.clients, maxClients: Math.max(Math.ceil(1.4 * load.clients), 1_000) },
  });
  const billedBefore = emulators.billed(isTally);
  const readsBefore = emulators.watchers.usage.reads;
  const refusedBefore = emulators.governed.aborted;
  const seen: Observation[] = [];
  const watcher = client(emulators.watchers.addresses[0], project);
  const totals = new Map<string, number>();
  const unwatch = ids.map((id) =>
    approach.watch(watcher.db, id, (one) => {
      totals.set(id, one);
      const total = sum([...totals.values()]);
      if (total > (seen.at(-1)?.total ?? 0)) seen.push({ at: epochNow(), total });
    }),
  );
  const start = epochNow() + 100;
  writers.begin(start);
  await sleep(100 + (instants.at(-1) as Millis));
  await until(async () => (await writers.pending()) === 0, GRACE);
  const { samples, errors, lateness } = await writers.stop();
  let counts: number[] = [];
  const visible = () => seen.at(-1)?.total ?? 0;
  // An abandoned increment may have been committed, so the watcher is compared with the database.
  await until(async () => {
    await sleep(SETTLING);
    const listed = await Promise.all(ids.map((id) => admin.firestore.collection(approach.shards(id)).get()));
    const direct = await Promise.all(
      ids.flatMap((id) => approach.counter?.(id) ?? []).map((path) => admin.firestore.doc(path).get()),
    );
    counts = [
      ...listed.flatMap(({ docs }) => docs.map((document) => document.get("count"))),
      ...direct.map((document) => document.get("direct.count") ?? 0),
    ];
    return visible() === sum(counts);
  }, GRACE);
  if (isTally) await functionsRest(emulators);
  const billed = emulators.billed(isTally);
  const lasted = (epochNow() - start) / 1_000;
  for (const stop of unwatch) stop();
  await Promise.all([watcher.close(), admin.close()]);

  const total = sum(counts);
  const per1000 = { ...billed };
  for (const unit of OPERATION_KINDS) per1000[unit] = ((billed[unit] - billedBefore[unit]) * 1_000) / total;
  const from = start + load.before.seconds * 1_000;
  const during = (at: Millis) => at >= from && at < from + load.measured.seconds * 1_000;
  const measured = samples.filter(({ intended }) => intended >= from);
  const acknowledged = samples
    .map((sample) => sample.acknowledged)
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const rejected = sum(Object.values(errors));
  const isStep = load.before.perSecond > 0 && load.before.perSecond !== load.measured.perSecond;
  return {
    ...{ approach: name, load: load.name, offeredPerSecond: load.measured.perSecond },
    acceptedPerSecond: acknowledged.filter(during).length / load.measured.seconds,
    acknowledgement: percentilesOf(measured.map((sample) => sample.acknowledged - sample.intended)),
    visibility: percentilesOf(visibilityDelays(acknowledged, seen, acknowledged.filter((at) => at < from).length)),
    ...(isStep && { recovery: recoveryTime(samples, from, PROMPT), timeline: timelineOf(samples, from) }),
    totalsPerSecond: seen.filter(({ at }) => during(at)).length / load.measured.seconds,
    ...{ offered: samples.length, acknowledged: acknowledged.length, errors },
    ...{ total, visible: visible(), documents: counts.length },
    exact: total >= acknowledged.length && total <= samples.length - rejected && visible() === total,
    refused: emulators.governed.aborted - refusedBefore,
    ...{ per1000, dollarsPerMillion: priceOf(per1000) * 1_000 },
    watcherReadsPerSecond: (emulators.watchers.usage.reads - readsBefore) / lasted,
    lateness: percentilesOf(lateness),
  };
}

/** Waits until no function has run for two seconds, so that one load does not burden the next. */
async function functionsRest({ billed }: MeteredEmulators): Promise<void> {
  await until(async () => {
    const before = billed(true).invocation;
    await sleep(2_000);
    return billed(true).invocation === before;
  }, 3 * GRACE);
}

/** Waits for a condition, or for the limit. */
async function until(condition: () => Promise<boolean>, limit: Millis): Promise<void> {
  const deadline = epochNow() + limit;
  while (!(await condition()) && epochNow() < deadline) await sleep(50);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
