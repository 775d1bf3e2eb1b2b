/**
 * The tasks that exchange a counter with other regions.
 *
 * After a failure, attempts try again, at longer and longer intervals. A region that an attempt could not reach either is named in
 * `unreachable` of the counter document. Then exchanges leave it to the attempts, until one succeeds. That one brings everything,
 * since a total includes all before.
 */
import { type DocumentReference, FieldValue } from "firebase-admin/firestore";
import type { Backend } from "../backend.ts";
import type { AggregationTask, Exchange } from "../cause.ts";
import { type CounterState, readCounter } from "../counterDocument.ts";
import { toTimestamp } from "../fields.ts";
import type { Millis } from "../time.ts";
import { bringTo, totalsOf, visitorsOf } from "./bring.ts";
import type { Regions } from "./config.ts";
import { nextAttemptAt } from "./schedule.ts";
import { untilUnchanged } from "./untilUnchanged.ts";

/**
 * Runs a task: waits until it is due by this clock, then brings the counter to the regions. Cost: 1 read, and what bringing costs
 * (`totals.ts`, `visitors.ts`). While a region cannot be reached, 1 task operation more, and 1 write when that begins or ends.
 */
export async function runExchange(backend: Backend, { counterId, due, exchange }: AggregationTask): Promise<void> {
  const { config, counters, snapshotLag, now, sleep, schedule } = backend;
  await sleep(due + snapshotLag - now());
  if (!config.regions || !exchange) return;
  const isAttempt = exchange.failingSince !== undefined;
  const run = exchange.visitors ? exchangeVisitors : isAttempt ? attemptTotal : exchangeTotal;
  const failing = await run(backend, config.regions, counters.doc(counterId), exchange);
  const since = [...Object.values(failing), exchange.failingSince].filter((one) => one !== undefined);
  if (Object.keys(failing).length === 0) return;
  const failingSince = Math.min(...since);
  // By a slow clock it could be the instant of this task, whose name is taken.
  const next = nextAttemptAt(failingSince, Math.max(now(), due));
  await schedule({ counterId, due: next, isPoll: false, exchange: { ...exchange, failingSince } });
}

/** Region → since when it could not be reached. */
type Failing = Readonly<Record<string, Millis>>;

type Run = (backend: Backend, regions: Regions, counter: DocumentReference, exchange: Exchange) => Promise<Failing>;

/** Brings the total to the regions that are not named as unreachable. */
const exchangeTotal: Run = async (backend, regions, counter) => {
  const { otherRegions, now, sleep } = backend;
  const own = await readCounter(counter);
  const isNamed = (name: string) => own.unreachable[name] !== undefined;
  const names = [...otherRegions.keys()];
  const open = names.filter((name) => !isNamed(name));
  const failed = await bringTo(backend, open, counter.id, totalsOf(own, regions, sleep));
  return failingSince([...names.filter(isNamed), ...failed], own, now());
};

/**
 * Brings the total to all regions: one may be reached since it was named, and what was published meanwhile relies on this attempt.
 * Repeats that if the counter is published in between.
 */
const attemptTotal: Run = async (backend, regions, counter) => {
  const { otherRegions, now, sleep } = backend;
  let names = [...otherRegions.keys()];
  let failing: Failing = {};
  await untilUnchanged(sleep, async () => {
    const own = await readCounter(counter);
    const failed = await bringTo(backend, names, counter.id, totalsOf(own, regions, sleep));
    failing = { ...failing, ...failingSince(failed, own, now()) };
    names = names.filter((name) => !failed.includes(name));
    await nameUnreachable(own, failing);
  });
  return failing;
};

function failingSince(names: readonly string[], { unreachable }: CounterState, now: Millis): Failing {
  return Object.fromEntries(names.map((name) => [name, unreachable[name] ?? now]));
}

const exchangeVisitors: Run = async (backend, regions, counter, { failingSince }) => {
  const { otherRegions, now, sleep } = backend;
  const bring = await visitorsOf(counter, regions, sleep);
  const failed = await bringTo(backend, [...otherRegions.keys()], counter.id, bring);
  return Object.fromEntries(failed.map((name) => [name, failingSince ?? now()]));
};

/**
 * Names the regions that cannot be reached in the counter document. Cost: nothing if they are named already; else 1 write.
 *
 * @throws FAILED_PRECONDITION or NOT_FOUND if the document has changed since it was read
 */
async function nameUnreachable({ ref, updateTime, unreachable }: CounterState, failing: Failing): Promise<void> {
  const names = Object.keys(failing);
  const isNamed = names.length === Object.keys(unreachable).length && names.every((name) => unreachable[name]);
  if (isNamed || !updateTime) return;
  const named = names.map((name) => [name, toTimestamp(failing[name] as Millis)]);
  const value = names.length > 0 ? Object.fromEntries(named) : FieldValue.delete();
  await ref.update({ unreachable: value }, { lastUpdateTime: updateTime });
}
