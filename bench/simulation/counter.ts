/** One counter of the model: its shards, its counter document, and what is known and owed of it. */

import { BASE_SHARD } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/config.ts";
import type { Published } from "../../functions/src/counter.ts";
import { toTimestamp } from "../../functions/src/counter.ts";
import type { Wanted } from "../../functions/src/demand.ts";
import type { MeasuredShard, Measurement } from "../../functions/src/measure.ts";
import type { Outlook } from "../../functions/src/outlook.ts";
import { type Bill, emptyBill } from "./bill.ts";
import { Shard } from "./shard.ts";

/** Ids of shards, made once. */
const IDS = Array.from({ length: 10_000 }, (_, index) => `${index}`);

export class Counter {
  readonly name: number;
  readonly shards: Shard[] = [];
  readonly base = new Shard();
  readonly bill: Bill = emptyBill();
  document: Published | undefined;
  /** Counts the publishes. */
  version = 0;
  /** What the instance of `wake` remembers. */
  memo: Outlook | undefined;
  isAttended = false;
  /** The latest write whose event waits until the counter is attended to no more. */
  waiting: Wanted | undefined;
  /** Due times of tasks that exist. Most counters have none, and there are many counters. */
  tasks: Set<Millis> | undefined;
  /** Commits not yet published: how many at which time. */
  uncounted: { at: Millis; writes: number }[] = [];
  /** The last change of the shard count: up or down. */
  direction = 0;

  constructor(name: number) {
    this.name = name;
  }

  shard(index: number): Shard {
    while (this.shards.length <= index) this.shards.push(new Shard());
    return this.shards[index] as Shard;
  }

  /** Writes a shard. @returns whether that created it */
  commit(index: number, now: Millis): boolean {
    const shard = this.shard(index);
    const isNew = shard.writes === undefined;
    shard.writes = (shard.writes ?? 0) + 1;
    shard.updatedAt = now;
    const latest = this.uncounted.at(-1);
    if (latest?.at === now) latest.writes++;
    else this.uncounted.push({ at: now, writes: 1 });
    return isNew;
  }

  /** What a query of the shards gives. */
  snapshot(now: Millis): Measurement {
    const shards: MeasuredShard[] = [];
    let total = 0;
    const add = (id: string, { writes, updatedAt }: Shard) => {
      if (writes === undefined) return;
      shards.push({ id, count: writes, writes, updatedAt: toTimestamp(updatedAt) });
      total += writes;
    };
    for (let index = 0; index < this.shards.length; index++) add(IDS[index] as string, this.shards[index] as Shard);
    add(BASE_SHARD, this.base);
    return { total, writes: total, asOf: toTimestamp(now), shards, malformed: [] };
  }
}
