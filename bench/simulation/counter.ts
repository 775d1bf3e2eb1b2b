/** One counter of the model: its shards, its counter document, and what is known and owed of it. */

import type { ListedShard } from "../../admin/src/internal.ts";
import { BASE_SHARD } from "../../core/src/index.ts";
import { toTimestamp } from "../../functions/src/counterDocument.ts";
import {
  type Cause,
  MAX_LISTED_SHARDS,
  type Measurement,
  type Millis,
  type Outcome,
  type Published,
} from "../../functions/src/decisions.ts";
import { type Bill, emptyBill } from "./bill.ts";
import { Shard } from "./shard.ts";

/** Ids of shards, made once. */
const IDS = Array.from({ length: 10_000 }, (_, index) => `${index}`);

export class Counter {
  readonly name: number;
  readonly shards: Shard[] = [];
  readonly base = new Shard();
  readonly bill: Bill = emptyBill();
  /** Increments that were committed. */
  total = 0;
  /** Documents in `shards`. */
  documents = 0;
  published: Published | undefined;
  /** Counts the publishes. */
  version = 0;
  /** What the instance of `wake` remembers. */
  known: Outcome | undefined;
  /** Events that wait while another one is handled; `undefined` if none is. */
  waiting: Cause[] | undefined;
  /** Names of tasks that exist. Most counters have none, and there are many counters. */
  tasks: Set<string> | undefined;
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
    if (isNew) {
      this.documents++;
      shard.markedAt = now;
    }
    this.total++;
    shard.writes = (shard.writes ?? 0) + 1;
    shard.updatedAt = now;
    const latest = this.uncounted.at(-1);
    if (latest?.at === now) latest.writes++;
    else this.uncounted.push({ at: now, writes: 1 });
    return isNew;
  }

  /** All shards there are, one by one. */
  list(): ListedShard[] {
    const listed: ListedShard[] = [];
    const add = (id: string, { writes, updatedAt }: Shard) => {
      if (writes !== undefined) listed.push({ id, count: writes, writes, updatedAt: toTimestamp(updatedAt) });
    };
    for (let index = 0; index < this.shards.length; index++) add(IDS[index] as string, this.shards[index] as Shard);
    add(BASE_SHARD, this.base);
    return listed;
  }

  /**
   * What `measureShards` finds, and bills for.
   *
   * @param documents  how many there were when the counter was measured last
   */
  measure(now: Millis, documents: number, hasIndex: boolean): Measurement {
    const measurement = { total: this.total, writes: this.total, asOf: toTimestamp(now), documents: this.documents };
    if (documents <= MAX_LISTED_SHARDS) {
      this.bill.measuring += Math.min(Math.max(this.documents, 1), MAX_LISTED_SHARDS + 1);
      if (this.documents <= MAX_LISTED_SHARDS) return { ...measurement, shards: this.list(), malformed: [] };
    }
    // Without the index the number of documents is billed all the same.
    const aggregation = Math.ceil(this.documents / 1_000);
    this.bill.measuring += aggregation + (hasIndex ? aggregation : this.documents);
    return measurement;
  }
}
