/**
 * A stream of items as the functions count it, without a database: instances commit groups of some hundred events, whose summaries
 * wait, and are merged in rounds into the stored one.
 */
import { ItemSummary, MAX_ITEMS } from "../core/src/index.ts";
import type { Random } from "../core/testing/random.ts";

const INSTANCES = 4;

/** As many wait in ten seconds of four busy instances. */
const ROUND = 200;

export interface CountedStream {
  /** The stored summary after the last round. */
  readonly bytes: Uint8Array;
  /** How often each item came. */
  readonly truth: ReadonlyMap<string, number>;
  /** The largest summary that waited, in bytes. */
  readonly largestWaiting: number;
}

/** Each event goes to a random instance. */
export function countStream(items: Iterable<string>, random: Random): CountedStream {
  const truth = new Map<string, number>();
  const groups = Array.from({ length: INSTANCES }, () => ({
    summary: new ItemSummary(),
    left: random.integer(100, 500),
  }));
  let bytes = new ItemSummary().serialize();
  let waiting: Uint8Array[] = [];
  let largestWaiting = 0;

  function commit(summary: ItemSummary): void {
    const commited = summary.serialize();
    largestWaiting = Math.max(largestWaiting, commited.length);
    waiting.push(commited);
    if (waiting.length === ROUND) merge();
  }
  function merge(): void {
    const summary = ItemSummary.parse(bytes);
    for (const one of waiting) summary.merge(ItemSummary.parse(one));
    bytes = summary.serialize();
    waiting = [];
  }

  for (const item of items) {
    truth.set(item, (truth.get(item) ?? 0) + 1);
    const group = random.pick(groups);
    group.summary.add(item, 1);
    if (--group.left > 0) continue;
    commit(group.summary);
    Object.assign(group, { summary: new ItemSummary(), left: random.integer(100, 500) });
  }
  for (const { summary } of groups) commit(summary);
  merge();
  return { bytes, truth, largestWaiting };
}

export interface Accuracy {
  /** How many of the `k` most frequent items are among the first `k` of the summary. Of equally frequent ones any is right. */
  readonly recalled: number;
  /** How many of these have their exact count. */
  readonly exact: number;
  /** How many items of the summary have a true count outside of their bounds. */
  readonly outOfBounds: number;
  /** The error of the summary. */
  readonly error: number;
  readonly total: number;
}

export function accuracyOf({ bytes, truth }: CountedStream, k: number): Accuracy {
  const summary = ItemSummary.parse(bytes);
  const truthOf = (item: string) => truth.get(item) ?? 0;
  const least = [...truth.values()].toSorted((a, b) => b - a)[Math.min(k, truth.size) - 1] as number;
  const top = summary.top(k);
  const isOut = ({ item, count, error }: (typeof top)[number]) =>
    truthOf(item) < count || truthOf(item) > count + error;
  return {
    recalled: top.filter(({ item }) => truthOf(item) >= least).length,
    exact: top.filter(({ item, count }) => truthOf(item) === count).length,
    outOfBounds: summary.top(MAX_ITEMS).filter(isOut).length,
    error: summary.error,
    total: summary.total,
  };
}
