/**
 * What counting has cost since the page was opened, from what it has seen: an estimate, since it does not see the functions
 * at work. Each increment is a write. Each total is a write, a task, and a read of every shard and of the counter. Only
 * writes to the first shard wake a function.
 */
import type { Prices } from "../../../costs/src/index.ts";
import type { Seen } from "./history.ts";

export interface Bill {
  readonly writes: number;
  readonly reads: number;
  /** Function invocations and tasks, which cost the same. */
  readonly calls: number;
  readonly dollars: number;
}

export function billOf({ first, last, documents, wakes }: Seen, prices: Prices): Bill {
  const increments = first && last ? last.writes - first.writes : 0;
  const publishes = first && last ? last.publishes - first.publishes : 0;
  const writes = increments + publishes;
  const reads = documents + publishes;
  const invocations = wakes + publishes;
  const dollars =
    writes * prices.write + reads * prices.read + invocations * prices.invocation + publishes * prices.task;
  return { writes, reads, calls: Math.round(invocations + publishes), dollars };
}
