/**
 * One contender under one load: writers offer it, a watcher looks on, and what they saw is reckoned up. The same for each
 * contender, with the same definitions.
 */
import { setTimeout as sleep } from "node:timers/promises";
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
import { type Bill, billOf, dollars, times, used } from "./bill.ts";
import { CONTENDERS, type ContenderName } from "./contenders.ts";
import { arrivals, type Load } from "./loads.ts";
import { RIVALS_PROJECT, type Rig } from "./rig.ts";
import { epochNow, Writers } from "./writers.ts";

export interface Trial {
  readonly contender: ContenderName;
  readonly load: string;
  readonly offeredPerSecond: number;
  /** Acknowledged per second of the measurement. */
  readonly acceptedPerSecond: number;
  /** From when an increment was to be made until its promise resolved. */
  readonly acknowledgement: Percentiles;
  /** From when the n-th increment was to be made until the watcher's total was n. */
  readonly freshness: Percentiles;
  /** From the n-th acknowledgement until the watcher's total was n. */
  readonly lag: Percentiles;
  readonly isStep: boolean;
  /** Of a step: until acknowledgements within a second are the rule again (`recoveryTime`). */
  readonly absorbedAfter: Millis;
  /** From the beginning of the measurement, what came before it included. */
  readonly timeline: readonly Second[];
  /** New totals that the watcher saw, per second of the measurement. */
  readonly totalsPerSecond: number;
  /** Of all increments, those before the measurement included. */
  readonly offered: number;
  readonly acknowledged: number;
  /** Given up when the trial ended. */
  readonly pending: number;
  readonly errors: Readonly<Record<string, number>>;
  /** The sum of what is in the database, and what the watcher saw at last. */
  readonly total: number;
  readonly visible: number;
  /** Documents that it was counted in. */
  readonly documents: number;
  /** Whether everything acknowledged is in the total, nothing is in it twice, and the watcher saw it. */
  readonly exact: boolean;
  /** Commits that the governor held back, and those it refused. */
  readonly waited: number;
  readonly aborted: number;
  readonly per1000: Bill;
  readonly dollarsPerMillion: number;
  /** Documents read for the one who watched. */
  readonly watcherReadsPerSecond: number;
  /** Clients there were in the end. */
  readonly clients: number;
  /** How late the writers' process was: what the machine could not do. */
  readonly lateness: Percentiles;
}

/** How long increments may take after the last was made, and totals after the last acknowledgement. */
const PATIENCE: Millis = 6_000;
/** The acknowledgement that a step must come back to. */
const PROMPT: Millis = 1_000;

/** How many clients there may be when many wait: as many as there are at first, and some, but at least so many. */
const mostClients = (clients: number) => Math.max(Math.ceil(1.4 * clients), 1_000);

/** For what is on its way when the clients have ended. */
const SETTLING: Millis = 200;

let made = 0;

export async function runTrial(rig: Rig, name: ContenderName, load: Load): Promise<Trial> {
  const contender = CONTENDERS[name];
  const ids = Array.from({ length: load.counters }, () => `bench:${made++}`);
  const project = contender.isTally ? PROJECT : RIVALS_PROJECT;
  const admin = adminAt(rig.emulator, project);
  await Promise.all(ids.flatMap(contender.documents).map((path) => admin.firestore.doc(path).set({ count: 0 })));

  const instants = arrivals(load);
  const { addresses } = rig.writers;
  const { clients } = load;
  const assignment = {
    contender: name,
    ids,
    addresses,
    project,
    clients,
    mostClients: mostClients(clients),
    arrivals: instants,
  };
  const writers = await Writers.start(assignment);
  const [bill, { waited, aborted }] = [billOf(rig, contender), { ...rig.governed }];
  const sights: Observation[] = [];
  const watcher = client(rig.watchers.addresses[0], project);
  const totals = new Map<string, number>();
  const unwatch = ids.map((id) =>
    contender.watch(watcher.db, id, (seen) => {
      totals.set(id, seen);
      const total = [...totals.values()].reduce((sum, one) => sum + one);
      if (total > (sights.at(-1)?.total ?? 0)) sights.push({ at: epochNow(), total });
    }),
  );
  const start = epochNow() + 100;
  writers.begin(start);
  await sleep(100 + (instants.at(-1) as Millis));
  await within(PATIENCE, async () => (await writers.pending()) === 0);
  const outcome = await writers.stop();
  const { samples, errors } = outcome;
  const acknowledged = samples.filter(({ acknowledged }) => acknowledged < Number.POSITIVE_INFINITY);
  let counted: number[] = [];
  const total = () => counted.reduce((sum, count) => sum + count, 0);
  const visible = () => sights.at(-1)?.total ?? 0;
  // What was given up may just have been committed, so the watcher must come to what there is.
  await within(PATIENCE, async () => {
    await sleep(SETTLING);
    const listed = await Promise.all(ids.map((id) => admin.firestore.collection(contender.counts(id)).get()));
    counted = listed.flatMap(({ docs }) => docs.map((document) => document.get("count")));
    return visible() === total();
  });
  if (contender.isTally) await quiet(rig);
  const bills = used(bill, billOf(rig, contender));
  const lasted = (epochNow() - start) / 1_000;
  for (const stop of unwatch) stop();
  await Promise.all([watcher.close(), admin.close()]);

  const from = start + load.before.seconds * 1_000;
  const to = from + load.measured.seconds * 1_000;
  const measured = samples.filter(({ intended }) => intended >= from);
  const before = samples.length - measured.length;
  const failed = Object.values(errors).reduce((sum, one) => sum + one, 0);
  const during = (at: Millis) => at >= from && at < to;
  const acknowledgements = acknowledged.map(({ acknowledged }) => acknowledged).sort((a, b) => a - b);
  return {
    contender: name,
    load: load.name,
    offeredPerSecond: load.measured.perSecond,
    acceptedPerSecond: acknowledgements.filter(during).length / load.measured.seconds,
    acknowledgement: percentilesOf(measured.map(({ intended, acknowledged }) => acknowledged - intended)),
    freshness: percentilesOf(
      visibilityDelays(
        samples.map(({ intended }) => intended),
        sights,
        before,
      ),
    ),
    lag: percentilesOf(visibilityDelays(acknowledgements, sights, acknowledgements.filter((at) => at < from).length)),
    isStep: load.before.perSecond !== load.measured.perSecond,
    absorbedAfter: recoveryTime(samples, from, PROMPT),
    timeline: timelineOf(samples, from),
    totalsPerSecond: sights.filter(({ at }) => during(at)).length / load.measured.seconds,
    offered: samples.length,
    acknowledged: acknowledged.length,
    pending: samples.length - acknowledged.length - failed,
    errors,
    total: total(),
    visible: visible(),
    documents: counted.length,
    exact: total() >= acknowledged.length && total() <= samples.length - failed && visible() === total(),
    waited: rig.governed.waited - waited,
    aborted: rig.governed.aborted - aborted,
    per1000: times(bills, 1_000 / total()),
    dollarsPerMillion: (dollars(bills) * 1e6) / total(),
    watcherReadsPerSecond: bills.watcherReads / lasted,
    clients: outcome.clients,
    lateness: percentilesOf(outcome.lateness),
  };
}

/** Until no function has run for a while: what one trial leaves behind must not burden the next. */
async function quiet(rig: Rig): Promise<void> {
  const runs = () => JSON.stringify(rig.invocations());
  await within(3 * PATIENCE, async () => {
    const before = runs();
    await sleep(2_000);
    return runs() === before;
  });
}

/** Waits for a condition, for so long at most. */
async function within(patience: Millis, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = epochNow() + patience;
  while (!(await condition()) && epochNow() < deadline) await sleep(50);
}
