/**
 * What counting has cost since the page was opened. An estimate: the page sees the publishes, not the functions at work.
 *
 * An increment is a write. A publish is a write, a task, a read of the counter, and what the sum of its shards takes. Writes to
 * shard 0 wake a function.
 */
import type { Prices } from "../../../costs/src/index.ts";
import { incrementsOf, type PublishLog } from "./publishLog.ts";

export interface ObservedCosts {
  readonly writes: number;
  readonly reads: number;
  /** Function invocations and tasks. */
  readonly calls: number;
  readonly dollars: number;
}

export function observedCosts({ first, last, measuring, wakes }: PublishLog, prices: Prices): ObservedCosts {
  const publishes = first && last ? last.publishes - first.publishes : 0;
  const writes = incrementsOf({ first, last }) + publishes;
  const reads = measuring + publishes;
  const invocations = wakes + publishes;
  const dollars =
    writes * prices.write + reads * prices.read + invocations * prices.invocation + publishes * prices.task;
  return { writes, reads, calls: Math.round(invocations + publishes), dollars };
}
