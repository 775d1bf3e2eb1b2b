/**
 * Takes from bounded counters by a server. Security rules do not apply, so each commit has preconditions: the shards are as
 * they were listed, and the entry or the receipt of the take does not exist. Then no shard falls below zero, and a
 * commit that is sent again fails as a whole.
 */
import {
  type DocumentReference,
  FieldValue,
  type QueryDocumentSnapshot,
  type QuerySnapshot,
  type WriteBatch,
} from "firebase-admin/firestore";
import {
  BASE_SHARD,
  CounterError,
  entryPath,
  givenName,
  isPreconditionFailure,
  shardsPath,
  soldOut,
  validTake,
} from "../../core/src/index.ts";
import { backoff, type CallOptions, retry, withoutSignal, withSignal } from "../../firestore/src/index.ts";
import { sumOf } from "./base.ts";
import { bounded, mayLower, shardUpdate } from "./commit.ts";
import { type Counter, type CounterRef, counterDoc, firestoreOf, refreshShardCount } from "./counter.ts";
import { createReceipt, newReceipt, receiptExists, unknownOutcome } from "./receipt.ts";

/** Options of {@link takeFromCounter}. */
export interface TakeFromCounterOptions extends CallOptions {
  /** What the take counts once for, such as an order, however often and from wherever it is called. `undefined` is refused. */
  once?: string;
}

/** The most units of one take by a server, so that its sums stay exact. */
const MAX_UNITS = Number.MAX_SAFE_INTEGER;

/** So many times the shards may change between a listing and its commit: with the pauses in between, about a minute, two at most. */
const MAX_TRIES = 20;

/**
 * Takes units from a bounded counter, all or none. Resolves once Firestore has acknowledged the take. With `once`, a
 * repetition takes no more, and returns what the `once` has taken. Units come back by `undoIncrement`.
 *
 * Cost: 1 read per shard, 1 write, and 1 per shard that gives: 1, unless no shard has enough. Again, after a pause, if a shard
 * changed in between. Without `once`, 1 delete a day later. The first call reads the counter document.
 *
 * @param units - a whole number, at least 1
 * @returns the units taken
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once` before any I/O; `counter/sold-out` if fewer are left;
 *         `counter/not-bounded`; `counter/once-conflict` if the `once` has counted an increment; `counter/contention` if the
 *         shards change all the time; `counter/unknown-outcome` if the `signal` is aborted, or without `once`, if Firestore does not answer for half a day, or refuses
 *         what it has not answered before
 *
 * @example
 * ```ts
 * await takeFromCounter(counter(db, "stock:shoes"), 2, { once: order.id });
 * ```
 */
export async function takeFromCounter(
  ref: CounterRef,
  units: number,
  options?: TakeFromCounterOptions,
): Promise<number> {
  validTake(units, MAX_UNITS);
  const once = givenName(options, "once");
  // First, because it refuses what is no reference.
  counterDoc(ref);
  const counter = ref as Counter;
  return await withSignal(options, () => take(counter, units, once));
}

async function take(ref: Counter, units: number, once: string | undefined): Promise<number> {
  ref._isBounded ||= await readIsBounded(ref);
  if (!ref._isBounded) throw notBounded(ref);
  const record = once === undefined ? newReceipt(ref) : firestoreOf(ref).doc(entryPath(ref.path, once));
  const create = once === undefined ? createReceipt(record) : createEntry(record, units);
  for (let tries = 0; ; tries++) {
    const shards = await retry(() => firestoreOf(ref).collection(shardsPath(ref.path)).select("count").get());
    const parts = divide(units, shards);
    // Looked up after the listing: what this call has committed may be missing from the listing.
    if (!parts || tries > 0) {
      const taken = await takenBy(ref, record, units, once);
      if (taken !== undefined) return taken;
      if (!parts) throw soldOut(ref.id, units, sumOf(shards));
    }
    let attempts = 0;
    try {
      await retry(() => {
        attempts++;
        return batchOf(ref, parts, create).commit();
      });
      return units;
    } catch (error) {
      if (!isPreconditionFailure(error)) {
        if (once !== undefined) throw error;
        if (await receiptExists(record)) return units;
        throw attempts > 1 ? unknownOutcome(error) : error;
      }
      const taken = await takenBy(ref, record, units, once);
      if (taken !== undefined) return taken;
      if (tries === MAX_TRIES) throw contention(ref, error);
      await backoff(tries);
    }
  }
}

/** The part of a take that one shard pays. */
interface Part {
  readonly shard: QueryDocumentSnapshot;
  readonly units: number;
}

/** Divides `n` units among as few shards as possible, at random among equals; `undefined` if there are fewer units. */
function divide(n: number, { docs }: QuerySnapshot): Part[] | undefined {
  const stocked = docs.filter((shard) => Number.isSafeInteger(shard.get("count")) && shard.get("count") > 0);
  const enough = stocked.filter((shard) => shard.get("count") >= n);
  const one = enough[Math.floor(Math.random() * enough.length)];
  if (one) return [{ shard: one, units: n }];
  const parts: Part[] = [];
  let left = n;
  for (const shard of stocked.sort((a, b) => b.get("count") - a.get("count"))) {
    const units = Math.min(left, shard.get("count"));
    parts.push({ shard, units });
    left -= units;
    if (left === 0) return parts;
  }
  return undefined;
}

/** Creates the entry or the receipt of a take. */
type Create = (batch: WriteBatch, parts: readonly Part[]) => void;

function createEntry(entry: DocumentReference, n: number): Create {
  return (batch, parts) => {
    // A client can give back to a numbered shard alone.
    const shard = parts.find((part) => part.shard.id !== BASE_SHARD)?.shard.id ?? "0";
    batch.create(entry, { once: entry.id, by: -n, shard, at: FieldValue.serverTimestamp() });
  };
}

function batchOf(ref: CounterRef, parts: readonly Part[], create: Create): WriteBatch {
  const batch = ref.firestore.batch();
  create(batch, parts);
  for (const { shard, units } of parts) {
    batch.update(shard.ref, shardUpdate(shard.id, -units), { lastUpdateTime: shard.updateTime });
  }
  return batch;
}

/** What the entry or the receipt shows as taken; `undefined` if there is none. */
async function takenBy(
  ref: CounterRef,
  record: DocumentReference,
  n: number,
  once?: string,
): Promise<number | undefined> {
  const found = await retry(() => record.get());
  if (!found.exists) return undefined;
  if (once === undefined) return n;
  const by: number = found.get("by");
  if (by < 0) return -by;
  throw new CounterError("counter/once-conflict", `"${once}" counts ${by} in "${ref.id}", and takes nothing`);
}

/**
 * Refuses an increment that may lower a bounded counter, or leave a fraction in it. Cost: none, or 1 read if the shard count
 * was not read within two minutes.
 *
 * @throws CounterError `counter/bounded`
 */
export async function refuseLowering(counter: Counter, by: number): Promise<void> {
  if (!mayLower(by)) return;
  await refreshShardCount(counter);
  if (counter._isBounded === undefined) {
    // One read for all calls that wait.
    counter._boundedReading ??= withoutSignal(() => readIsBounded(counter)).finally(() => {
      counter._boundedReading = undefined;
    });
    counter._isBounded = await counter._boundedReading;
  }
  if (counter._isBounded) throw bounded(counter, by);
}

/**
 * Cost: 1 read.
 *
 * @param what  what the caller is about to do
 * @throws CounterError `counter/bounded`
 */
export async function refuseIfBounded(ref: CounterRef, what: string): Promise<void> {
  if (await readIsBounded(ref)) throw bounded(ref, what);
}

async function readIsBounded(ref: CounterRef): Promise<boolean> {
  return (await retry(() => counterDoc(ref).get())).get("bounded") === true;
}

function notBounded({ id }: CounterRef): CounterError {
  return new CounterError(
    "counter/not-bounded",
    `"${id}" is not bounded; create it by ensureCounter with { bounded: true }`,
  );
}

function contention({ id }: CounterRef, cause: unknown): CounterError {
  return new CounterError(
    "counter/contention",
    `the shards of "${id}" changed each time before a take; try again`,
    cause,
  );
}
