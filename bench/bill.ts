/**
 * What was used, and what it costs at Firestore's list prices. Writers and functions are the counter's own cost; watchers
 * are billed apart, since how many there are is up to the app.
 */
import { PRICES } from "../costs/src/index.ts";
import type { Usage } from "../testkit/meter.ts";
import type { Contender } from "./contenders.ts";
import type { Rig } from "./rig.ts";

export interface Bill {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
  readonly invocations: number;
  /** Each runs once, so it is counted as one that ran. */
  readonly tasks: number;
  /** Documents read for one watcher. */
  readonly watcherReads: number;
}

/** Everything used since the rig started. The functions are Tally's: what they do meanwhile is nobody else's. */
export function billOf({ writers, watchers, functions, invocations }: Rig, { isTally }: Contender): Bill {
  const ran = isTally ? invocations() : {};
  const sum = (item: keyof Usage) => writers.usage[item] + (isTally ? functions.usage[item] : 0);
  return {
    reads: sum("reads"),
    writes: sum("writes"),
    deletes: sum("deletes"),
    invocations: Object.values(ran).reduce((all, one) => all + one, 0),
    tasks: ran.aggregate ?? 0,
    watcherReads: watchers.usage.reads,
  };
}

/** What was used from one bill to another. */
export function used(before: Bill, after: Bill): Bill {
  return mapped(after, (item) => after[item] - before[item]);
}

export function times(bill: Bill, factor: number): Bill {
  return mapped(bill, (item) => bill[item] * factor);
}

function mapped(bill: Bill, value: (item: keyof Bill) => number): Bill {
  const items = Object.keys(bill) as (keyof Bill)[];
  return Object.fromEntries(items.map((item) => [item, value(item)])) as unknown as Bill;
}

/** US dollars at the prices of nam5, without watchers. */
export function dollars({ reads, writes, deletes, invocations, tasks }: Bill): number {
  const { read, write, delete: remove, invocation, task } = PRICES.nam5;
  return reads * read + writes * write + deletes * remove + invocations * invocation + tasks * task;
}
