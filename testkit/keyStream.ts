/**
 * A stream of keys as the functions count it, without a database: instances commit groups of some hundred events, whose summaries
 * wait, and are merged in rounds into the stored one.
 */
import { KeySummary, MAX_KEYS } from "../core/src/index.ts";
import type { Random } from "../core/testing/random.ts";

const INSTANCES = 4;

/** As many wait in ten seconds of four busy instances. */
const ROUND = 200;

export interface CountedStream {
  /** The stored summary after the last round. */
  readonly bytes: Uint8Array;
  /** How often each key came. */
  readonly truth: ReadonlyMap<string, number>;
  /** The largest summary that waited, in bytes. */
  readonly largestWaiting: number;
}

/** Each event goes to a random instance. */
export function countStream(keys: Iterable<string>, random: Random): CountedStream {
  const truth = new Map<string, number>();
  const groups = Array.from({ length: INSTANCES }, () => ({
    summary: new KeySummary(),
    left: random.integer(100, 500),
  }));
  let bytes = new KeySummary().serialize();
  let waiting: Uint8Array[] = [];
  let largestWaiting = 0;

  function commit(summary: KeySummary): void {
    const commited = summary.serialize();
    largestWaiting = Math.max(largestWaiting, commited.length);
    waiting.push(commited);
    if (waiting.length === ROUND) merge();
  }
  function merge(): void {
    const summary = KeySummary.parse(bytes);
    for (const one of waiting) summary.merge(KeySummary.parse(one));
    bytes = summary.serialize();
    waiting = [];
  }

  for (const key of keys) {
    truth.set(key, (truth.get(key) ?? 0) + 1);
    const group = random.pick(groups);
    group.summary.add(key, 1);
    if (--group.left > 0) continue;
    commit(group.summary);
    Object.assign(group, { summary: new KeySummary(), left: random.integer(100, 500) });
  }
  for (const { summary } of groups) commit(summary);
  merge();
  return { bytes, truth, largestWaiting };
}

export interface Accuracy {
  /** How many of the `k` most frequent keys are among the first `k` of the summary. Of equally frequent ones any is right. */
  readonly recalled: number;
  /** How many of these have their exact count. */
  readonly exact: number;
  /** How many keys of the summary have a true count outside of their bounds. */
  readonly outOfBounds: number;
  /** The error of the summary. */
  readonly error: number;
  readonly total: number;
}

export function accuracyOf({ bytes, truth }: CountedStream, k: number): Accuracy {
  const summary = KeySummary.parse(bytes);
  const truthOf = (key: string) => truth.get(key) ?? 0;
  const least = [...truth.values()].toSorted((a, b) => b - a)[Math.min(k, truth.size) - 1] as number;
  const top = summary.top(k);
  const isOut = ({ key, count, error }: (typeof top)[number]) => truthOf(key) < count || truthOf(key) > count + error;
  return {
    recalled: top.filter(({ key }) => truthOf(key) >= least).length,
    exact: top.filter(({ key, count }) => truthOf(key) === count).length,
    outOfBounds: summary.top(MAX_KEYS).filter(isOut).length,
    error: summary.error,
    total: summary.total,
  };
}
