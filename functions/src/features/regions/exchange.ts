/**
 * Exchanges a counter with other regions.
 *
 * After a failure, attempts try again, at longer and longer intervals. A region that an attempt could not reach is named in
 * `unreachable` of the counter document. Then the exchanges of the total leave it to the attempts, until one succeeds. That one pushes
 * everything, since a total includes all before.
 */
import { type DocumentReference, FieldValue } from "firebase-admin/firestore";
import { scheduleAttempt } from "../../counter/attempts.ts";
import type { Backend } from "../../counter/backend.ts";
import type { CounterTask } from "../../counter/cause.ts";
import { readCounter } from "../../counter/counterDocument.ts";
import { toTimestamp } from "../../counter/fields.ts";
import type { Millis } from "../../counter/time.ts";
import type { CounterState } from "../../counter/types.ts";
import type { Regions } from "./parseRegions.ts";
import { publishVisitorsHere, pushTo, type Source, sourceOf, totalsPush } from "./push.ts";
import { EXCHANGED, NO_REGIONS } from "./regionHooks.ts";
import { publishGlobal } from "./totals.ts";
import { untilUnchanged } from "./untilUnchanged.ts";

/**
 * Runs a task: waits until it is due by this clock, then pushes the counter to the regions. Cost: 1 read, and what the pushes cost
 * (`totals.ts`, `visitors.ts`). While a region cannot be reached, 1 task operation more, and 1 write when that begins or ends.
 */
export async function runExchange(backend: Backend, task: CounterTask): Promise<void> {
  const { config, counters, snapshotLag, now, sleep } = backend;
  const { regions } = config;
  const { counterId, due } = task;
  await sleep(due + snapshotLag - now());
  if (!regions) return;
  const counter = counters.doc(counterId);
  const isRetry = task.failingSince !== undefined;
  const failing =
    task.kind === "exchangeVisitors"
      ? await exchangeVisitors(backend, regions, counter, task.failingSince)
      : await (isRetry ? attemptTotal : exchangeTotal)(backend, regions, counter);
  if (Object.keys(failing).length === 0) return;
  // The region that failed last decides how soon. The others are tried with it.
  const failingSince = Math.max(...Object.values(failing));
  await scheduleAttempt(backend, task, failingSince);
}

/**
 * Pushes a counter to all other regions, whether it has changed or not: its total, what is known of third regions, and its visitors.
 * Cost: 3 reads, and what the pushes cost (`totals.ts`, `visitors.ts`).
 *
 * @returns the regions that failed
 */
export async function exchangeCounter(source: Source, regions: Regions, counterId: string): Promise<string[]> {
  const { counters, otherRegions, sleep } = source;
  const counter = counters.doc(counterId);
  await publishGlobal(counter, regions, sleep);
  // Only a task tries a failing region again, and this call schedules none. So it names no new one.
  const failing = await pushTotal(source, regions, counter, (name, { regions }) => regions?.unreachable[name]);
  const push = await publishVisitorsHere(counter, regions, sleep);
  const failed = await pushTo(source, [...otherRegions.keys()], counterId, push);
  return [...new Set([...failing.keys(), ...failed])];
}

/** Region → since when it could not be reached. */
type Failing = Readonly<Record<string, Millis>>;

/** Pushes the total to the regions that are not named as unreachable. */
async function exchangeTotal(backend: Backend, regions: Regions, counter: DocumentReference): Promise<Failing> {
  const { now, sleep } = backend;
  const source = sourceOf(backend);
  const own = await readCounter(counter, EXCHANGED);
  const { unreachable } = own.regions ?? NO_REGIONS;
  const names = [...source.otherRegions.keys()];
  const open = names.filter((name) => unreachable[name] === undefined);
  const failed = await pushTo(source, open, counter.id, totalsPush(own, regions, sleep));
  const failing = names.filter((name) => failed.includes(name) || !open.includes(name));
  return Object.fromEntries(failing.map((name) => [name, unreachable[name] ?? now()]));
}

/** Pushes the total to all regions, and names those that failed. */
async function attemptTotal(backend: Backend, regions: Regions, counter: DocumentReference): Promise<Failing> {
  const since = (name: string, own: CounterState) => own.regions?.unreachable[name] ?? backend.now();
  return Object.fromEntries(await pushTotal(sourceOf(backend), regions, counter, since));
}

/**
 * Pushes the total to all regions, and names those that failed, no others, in the counter document. What was published while a region
 * was named relies on this. So if the counter is published in between, it is pushed again.
 *
 * @param since   since when a region that failed could not be reached; `undefined` not to name it
 * @returns       the regions that failed
 */
async function pushTotal<Since extends Millis | undefined>(
  source: Source,
  regions: Regions,
  counter: DocumentReference,
  since: (name: string, own: CounterState) => Since,
): Promise<Map<string, Since>> {
  const failing = new Map<string, Since>();
  let pushedAsOf: Millis | undefined;
  await untilUnchanged(source.sleep, async () => {
    const own = await readCounter(counter, EXCHANGED);
    if (own.published?.asOf !== pushedAsOf || pushedAsOf === undefined) {
      const names = [...source.otherRegions.keys()].filter((name) => !failing.has(name));
      const failed = await pushTo(source, names, counter.id, totalsPush(own, regions, source.sleep));
      for (const name of failed) failing.set(name, since(name, own));
      pushedAsOf = own.published?.asOf;
    }
    await nameUnreachable(own, failing);
  });
  return failing;
}

/**
 * Names regions in the counter document. Cost: nothing if the same are named already; else 1 write.
 *
 * @throws FAILED_PRECONDITION or NOT_FOUND if the document has changed since it was read
 */
async function nameUnreachable(
  { ref, updateTime, regions: { unreachable } = NO_REGIONS }: CounterState,
  failing: ReadonlyMap<string, Millis | undefined>,
): Promise<void> {
  const named = [...failing].filter((entry): entry is [string, Millis] => entry[1] !== undefined);
  const isSame =
    named.length === Object.keys(unreachable).length && named.every(([name]) => unreachable[name] !== undefined);
  if (isSame || !updateTime) return;
  const value = Object.fromEntries(named.map(([name, since]) => [name, toTimestamp(since)]));
  await ref.update({ unreachable: named.length > 0 ? value : FieldValue.delete() }, { lastUpdateTime: updateTime });
}

async function exchangeVisitors(
  backend: Backend,
  regions: Regions,
  counter: DocumentReference,
  failingSince: Millis | undefined,
): Promise<Failing> {
  const { now, sleep } = backend;
  const source = sourceOf(backend);
  const push = await publishVisitorsHere(counter, regions, sleep);
  const failed = await pushTo(source, [...source.otherRegions.keys()], counter.id, push);
  return Object.fromEntries(failed.map((name) => [name, failingSince ?? now()]));
}
