/** One simulated counter: its shards, its counter document, and what the functions know about them. */

import { BASE_SHARD, DIRECT_SLOTS, directTarget, type ReadDirect } from "../../core/src/index.ts";
import { BYTES, readUnits } from "../../costs/src/index.ts";
import type { ListedShard } from "../../firestore/src/index.ts";
import { toTimestamp } from "../../functions/src/counter/fields.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import {
  type AggregateResult,
  type Cause,
  type Direct,
  type DirectChange,
  FOLD_PAGE_SIZE,
  foldableShards,
  MAX_LISTED_SHARDS,
  type Measurement,
  type Millis,
  type Published,
  shardIndex,
} from "../../functions/src/decisions.ts";
import { aggregationReads, DeletedEntries } from "../../testkit/production/aggregations.ts";
import { type Bill, emptyBill } from "./bill.ts";
import { Marks } from "./marks.ts";
import { Shard } from "./shard.ts";

/** What one instance knows of a counter. */
export interface Instance {
  known?: AggregateResult;
  /** Events that wait while another one is handled; `undefined` if none is. */
  waiting?: Cause[] | undefined;
}

/** The field `direct` of a simulated document, with times in milliseconds and marks as numbers of writes. */
interface StoredDirect {
  readonly open: boolean;
  readonly generation: number;
  readonly count: number;
  readonly slots: Readonly<Record<number, Slot>>;
}

interface Slot {
  readonly at: Millis;
  readonly marks: number;
}

/** A counter document, as a client knows it. */
export interface DocumentCopy {
  readonly exists: boolean;
  readonly direct: StoredDirect | undefined;
  readonly published: Published | undefined;
}

/** As clients parse it. */
export function readDirect({ direct }: DocumentCopy): ReadDirect {
  if (!direct) return undefined;
  const { open, generation, slots } = direct;
  const marks = Object.fromEntries(
    Object.entries(slots).map(([name, { at, marks }]) => [
      name,
      { at: { toMillis: () => at }, nonces: Array.from({ length: marks }) },
    ]),
  );
  return { open, generation, marks };
}

/** The generation that the next write of a client with this copy joins. */
export function generationFor(copy: DocumentCopy): number | undefined {
  return directTarget(copy.exists ? readDirect(copy) : null)._generation;
}

/** The document after a write of a client. */
export function afterDirectWrite({ direct, ...copy }: DocumentCopy, generation: number, now: Millis): DocumentCopy {
  const slot = generation % DIRECT_SLOTS;
  const { [(generation + 1) % DIRECT_SLOTS]: _, ...kept } = direct?.slots ?? {};
  const slots = { ...kept, [slot]: { at: now, marks: (kept[slot]?.marks ?? 0) + 1 } };
  return { ...copy, exists: true, direct: { open: true, generation, count: (direct?.count ?? 0) + 1, slots } };
}

export class Counter {
  readonly shards: Shard[] = [];
  readonly base = new Shard();
  readonly bill: Bill = emptyBill();
  /** Committed increments. */
  total = 0;
  /** Documents in `shards`. */
  documents = 0;
  published: Published | undefined;
  publishedAt: Millis = 0;
  /** Limits the writes of the counter document. */
  readonly document = new Shard();
  direct: StoredDirect | undefined;
  /** Counts the writes of the counter document. */
  version = 0;
  /** What the instances of the event functions remember. */
  readonly instances: Instance[] = [];
  /** Names of all tasks: a name that was used is refused. Most counters have none, so the set is created when needed. */
  tasks: Set<string> | undefined;
  /** Commits not yet published: how many at which time. */
  unpublished: { at: Millis; writes: number }[] = [];
  /** Of the index of `shards`. */
  readonly deletedEntries = new DeletedEntries();
  /** The sign of the last change of the shard count. */
  direction = 0;

  shard(index: number): Shard {
    while (this.shards.length <= index) this.shards.push(new Shard());
    return this.shards[index] as Shard;
  }

  instance(index: number): Instance {
    this.instances[index] ??= {};
    return this.instances[index];
  }

  /** Writes a shard. @returns whether that created it */
  commit(index: number, now: Millis): boolean {
    const shard = this.shard(index);
    const isNew = shard.writes === undefined;
    if (isNew) this.documents++;
    else this.deletedEntries.add(1, now);
    this.total++;
    shard.writes = (shard.writes ?? 0) + 1;
    shard.updatedAt = now;
    const latest = this.unpublished.at(-1);
    if (latest?.at === now) latest.writes++;
    else this.unpublished.push({ at: now, writes: 1 });
    return isNew;
  }

  /** Whether the rules let a write join this generation now. */
  accepts(generation: number): boolean {
    return generationFor(this.copy()) === generation;
  }

  /** A client writes the counter document. @returns whether the rules allow it */
  commitDirect(generation: number, now: Millis): boolean {
    if (!this.accepts(generation)) return false;
    this.direct = afterDirectWrite(this.copy(), generation, now).direct;
    this.version++;
    return true;
  }

  /** The functions publish a change of `direct`. */
  publishDirect({ open = true, generation }: DirectChange): void {
    const { slots = {}, count = 0, generation: before = 0 } = this.direct ?? {};
    const { [(generation ?? -1) % DIRECT_SLOTS]: _, ...kept } = slots;
    this.direct = { open, generation: generation ?? before, count, slots: kept };
  }

  /** As the functions parse it. */
  parsedDirect(): Direct | undefined {
    if (!this.direct) return undefined;
    const { slots, ...direct } = this.direct;
    const slotOf = (before: number) => slots[(direct.generation - before + DIRECT_SLOTS) % DIRECT_SLOTS];
    const lastWriteOfAll = Math.max(0, ...Object.values(slots).map(({ at }) => at));
    const [last, before] = [slotOf(0), slotOf(1)];
    return { ...direct, marks: last?.marks ?? 0, lastWrite: last?.at, lastWriteOfAll, lastWriteBefore: before?.at };
  }

  /** The document, as a client reads it. */
  copy(): DocumentCopy {
    return { exists: this.version > 0, direct: this.direct, published: this.published };
  }

  /** Adds the mark of a write. @param removes  whether the write removes expired marks. @returns the shard's bytes after it */
  mark(index: number, now: Millis, removes: boolean): number {
    const shard = this.shard(index);
    shard.marks ??= new Marks();
    shard.marks.add(now, removes);
    return shard.marks.bytes;
  }

  /** Looks at the marks of one shard, as the functions do after a publish. */
  look(index: number, now: Millis): void {
    this.bill["looks at marks"]++;
    if (this.shards[index]?.marks?.removeExpired(now)) this.bill["removing marks"]++;
  }

  list(): ListedShard[] {
    const listed: ListedShard[] = [];
    const add = (id: string, { writes, updatedAt }: Shard) => {
      if (writes !== undefined) listed.push({ id, count: writes, writes, updatedAt: toTimestamp(updatedAt) });
    };
    this.shards.forEach((shard, index) => {
      add(`${index}`, shard);
    });
    add(BASE_SHARD, this.base);
    return listed;
  }

  /**
   * What `measureShards` finds and bills: on Enterprise the bytes that are scanned.
   *
   * @param documents  how many there were at the previous measurement
   * @param way        how more than a few shards are summed
   */
  measure(now: Millis, documents: number, way: "index" | "list" | "scan"): Measurement {
    const measurement = { total: this.total, writes: this.total, asOf: toTimestamp(now), documents: this.documents };
    if (way === "scan") this.bill.measuring += readUnits(this.#bytes());
    if (documents <= MAX_LISTED_SHARDS) {
      if (way !== "scan") this.bill.measuring += Math.min(Math.max(this.documents, 1), MAX_LISTED_SHARDS + 1);
      if (this.documents <= MAX_LISTED_SHARDS) return { ...measurement, shards: this.list(), malformed: [] };
    }
    if (way === "scan") return measurement;
    // The number of documents is asked for in either case.
    const aggregation = aggregationReads(this.documents);
    this.bill.measuring += aggregation + (way === "index" ? aggregation : this.documents);
    return measurement;
  }

  /** The bytes of all documents in `shards`. */
  #bytes(): number {
    const bytesOf = ({ writes, marks }: Shard) => (writes === undefined ? 0 : (marks?.bytes ?? BYTES.unmarkedShard));
    return this.shards.reduce((sum, shard) => sum + bytesOf(shard), bytesOf(this.base));
  }

  /**
   * Folds quiet shards into `base`, page by page as `functions/src/counter/fold.ts` does. Nothing is written meanwhile, so no batch
   * fails.
   *
   * @returns how many times `base` was written, whether that created it, and when the last of the shards that were left was written
   */
  fold(fromIndex: number, quietSince: Millis, now: Millis) {
    const { base, bill } = this;
    const isCreation = base.writes === undefined;
    const listed = this.list();
    let batches = 0;
    for (let start = 0; start < listed.length; start += FOLD_PAGE_SIZE) {
      const quiet = foldableShards(listed.slice(start, start + FOLD_PAGE_SIZE), fromIndex, quietSince);
      if (quiet.length === 0) continue;
      for (const { id, writes } of quiet) {
        base.writes = (base.writes ?? 0) + writes;
        const folded = this.shard(shardIndex(id) as number);
        folded.writes = undefined;
        folded.marks = undefined;
      }
      base.updatedAt = now;
      this.documents -= quiet.length;
      this.deletedEntries.add(quiet.length, now);
      bill["folding: deletes"] += quiet.length;
      batches++;
    }
    if (isCreation && batches > 0) this.documents++;
    bill.measuring += Math.max(listed.length, 1);
    bill["folding: base"] += batches;
    const left = foldableShards(listed, fromIndex, now).filter(({ updatedAt }) => toMillis(updatedAt) > quietSince);
    const lastWritten = left.length === 0 ? undefined : Math.max(...left.map(({ updatedAt }) => toMillis(updatedAt)));
    return { batches, isCreation, lastWritten };
  }
}
