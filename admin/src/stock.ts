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
  ALREADY_EXISTS,
  BASE_SHARD,
  CounterError,
  codeOf,
  entryPath,
  isPreconditionFailure,
  shardsPath,
  soldOut,
  validTake,
} from "../../core/src/index.ts";
import { sumOf } from "./base.ts";
import { type Counter, type CounterRef, counterDoc, firestoreOf, refreshShardCount } from "./counter.ts";
import { newReceipt, receiptContent } from "./receipt.ts";
import { backoff, retry } from "./retry.ts";

/** Options of {@link takeFromCounter}. */
export interface TakeOptions {
  /** Takes once for this key, such as an order, however often and from wherever it is called. */
  key?: string | undefined;
}

/** The most units of one take by a server, so that its sums stay exact. */
const MAX_UNITS = Number.MAX_SAFE_INTEGER;

/** How often the shards may change between a listing and its commit. With the waits in between, this takes some two minutes. */
const CHANGES = 20;

/**
 * Takes `n` units from a bounded counter, all or none. Resolves once Firestore has acknowledged the take. With a `key`, a
 * repetition takes no more, and returns what the key has taken. Units come back by `undoIncrement`.
 *
 * Cost: 1 read per shard, 1 write, and 1 per shard that gives: 1, unless no shard has `n`. Again, after a pause, if a shard
 * changed in between. Without a key, 1 delete a day later. The first call reads the counter document.
 *
 * @param n - a whole number, at least 1
 * @returns the units taken
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key` before any I/O; `counter/sold-out` if fewer are left;
 *         `counter/bounded` if the counter is not bounded; `counter/key-conflict` if the key has counted an increment;
 *         `counter/contention` if the shards change all the time
 *
 * @example
 * ```ts
 * await takeFromCounter(counter(db, "stock:shoes"), 2, { key: order.id });
 * ```
 */
export async function takeFromCounter(ref: CounterRef, n = 1, options: TakeOptions = {}): Promise<number> {
  const { key } = options;
  validTake(n, key, MAX_UNITS);
  const counter = ref as Counter;
  counter._isBounded ||= await readIsBounded(ref);
  if (!counter._isBounded) throw notBounded(ref);
  const proof = key === undefined ? newReceipt(ref) : firestoreOf(ref).doc(entryPath(ref.path, key));
  for (let tries = 0; ; tries++) {
    const shards = await retry(() => firestoreOf(ref).collection(shardsPath(ref.path)).select("count").get());
    const givers = giversOf(shards, n);
    // Looked up after the listing: what this call has committed may be missing from the listing.
    if (!givers || tries > 0) {
      const taken = await takenBy(ref, proof, n, key);
      if (taken !== undefined) return taken;
      if (!givers) throw soldOut(ref.id, n, sumOf(shards));
    }
    try {
      await retry(() => batchOf(ref, proof, key !== undefined, n, givers).commit());
      return n;
    } catch (error) {
      if (!isPreconditionFailure(error) && codeOf(error) !== ALREADY_EXISTS) throw error;
      const taken = await takenBy(ref, proof, n, key);
      if (taken !== undefined) return taken;
      if (tries === CHANGES) throw contention(ref, error);
      await backoff(tries, error);
    }
  }
}

/** A shard that gives units. */
interface Giver {
  readonly shard: QueryDocumentSnapshot;
  readonly units: number;
}

/** The shards that give `n` units, as few as possible, at random among equals; `undefined` if there are fewer units. */
function giversOf({ docs }: QuerySnapshot, n: number): Giver[] | undefined {
  const stocked = docs.filter((shard) => Number.isSafeInteger(shard.get("count")) && shard.get("count") > 0);
  const enough = stocked.filter((shard) => shard.get("count") >= n);
  const one = enough[Math.floor(Math.random() * enough.length)];
  if (one) return [{ shard: one, units: n }];
  const givers: Giver[] = [];
  let left = n;
  for (const shard of stocked.sort((a, b) => b.get("count") - a.get("count"))) {
    const units = Math.min(left, shard.get("count"));
    givers.push({ shard, units });
    left -= units;
    if (left === 0) return givers;
  }
  return undefined;
}

function batchOf(
  ref: CounterRef,
  proof: DocumentReference,
  isKeyed: boolean,
  n: number,
  givers: readonly Giver[],
): WriteBatch {
  const batch = ref.firestore.batch();
  const at = FieldValue.serverTimestamp();
  // A client can give back to a numbered shard alone.
  const shard = givers.find((giver) => giver.shard.id !== BASE_SHARD)?.shard.id ?? "0";
  batch.create(proof, isKeyed ? { by: -n, shard, at } : { ...receiptContent() });
  for (const { shard, units } of givers) {
    const taken = { count: FieldValue.increment(-units), writes: FieldValue.increment(1), at };
    batch.update(shard.ref, taken, { lastUpdateTime: shard.updateTime });
  }
  return batch;
}

/** What the entry or the receipt shows as taken; `undefined` if there is none. */
async function takenBy(
  ref: CounterRef,
  proof: DocumentReference,
  n: number,
  key?: string,
): Promise<number | undefined> {
  const found = await retry(() => proof.get());
  if (!found.exists) return undefined;
  if (key === undefined) return n;
  const by: number = found.get("by");
  if (by < 0) return -by;
  throw new CounterError("counter/key-conflict", `"${key}" counts ${by} in "${ref.id}", and takes nothing`);
}

/**
 * Refuses an increment that may lower a bounded counter, or leave a fraction in it. Cost: none, or 1 read if the shard count
 * was not read within two minutes.
 *
 * @throws CounterError `counter/bounded`
 */
export async function refuseLowering(counter: Counter, by: number): Promise<void> {
  if (Number.isSafeInteger(by) && by > 0) return;
  await refreshShardCount(counter);
  if (counter._isBounded ?? (await readIsBounded(counter))) throw bounded(counter, `an increment by ${by}`);
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

function bounded({ id }: CounterRef, what: string): CounterError {
  return new CounterError(
    "counter/bounded",
    `${what} may lower "${id}" below zero; restock by whole numbers with incrementCounter, and lower it with takeFromCounter`,
  );
}

async function readIsBounded(ref: CounterRef): Promise<boolean> {
  return (await retry(() => counterDoc(ref).get())).get("bounded") === true;
}

function notBounded({ id }: CounterRef): CounterError {
  return new CounterError(
    "counter/bounded",
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
