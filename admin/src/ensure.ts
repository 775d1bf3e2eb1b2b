/** Creates a counter that does not exist, and reserves shards for a crowd. */
import { FieldValue, Timestamp, type Transaction, type WriteBatch } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  BASE_SHARD,
  CounterError,
  codeOf,
  entriesPath,
  evenShares,
  givenFlag,
  hasOption,
  MAX_SHARDS,
  MAX_STOCK_SHARDS,
  type Reservation,
  shardsPath,
  stockShards,
} from "../../core/src/index.ts";
import { type CallOptions, endingBy } from "./callOptions.ts";
import { type CounterRef, counterDoc, shardDoc } from "./counter.ts";
import { wake } from "./publish.ts";
import { validTotal } from "./reset.ts";
import { retry } from "./retry.ts";

/** Options of {@link ensureCounter}. */
export interface EnsureCounterOptions extends CallOptions {
  /** The total of a counter that does not exist yet. Default 0. */
  initial?: number;
  /** The fewest shards that the counter has, 1 to 10,000, or 100 if it is bounded, for an expected crowd. Default: no reservation. */
  shards?: number | undefined;
  /**
   * Whether the counter is stock, which {@link takeFromCounter} takes from: it never falls below zero. It cannot be changed
   * later, and the rules must say the same of its group (`isBounded`). Default `false`.
   */
  bounded?: boolean;
  /** How long the reservation of `shards` holds, in milliseconds. Default: an hour. */
  holdFor?: number | undefined;
}

const HOUR_MS = 3_600_000;

/**
 * Makes sure that a counter exists. If it does not, it starts at `initial`. If it does, its total does not change, so the call
 * is idempotent. Increments may go on meanwhile, and count.
 *
 * A counter that has been incremented exists, also before its first publish: it keeps its total, and never becomes bounded.
 *
 * With `shards`, the counter has at least that many from now on, for an hour or `holdFor`. Then a crowd that comes all at
 * once does not wait for the counter to grow. The parameter `MAX_SHARDS` of the functions still holds.
 *
 * With `bounded`, the counter is stock: {@link takeFromCounter} of clients and servers takes from it, and it never falls below
 * zero. Its units are spread over `shards` at once.
 *
 * Cost: 3 reads. If the counter does not exist, 1 write, 2 with any option, and 1 more per shard that gets units of a bounded
 * counter, at least 1. If it exists, 1 read and 2 writes more with `shards`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-option`; `counter/not-bounded` if the counter exists and is
 *         not bounded
 *
 * @example
 * ```ts
 * await ensureCounter(counter(db, "stock:shoes"), { initial: 500, bounded: true, shards: 20 });
 * await ensureCounter(counter(db, "votes:final"), { shards: 200 });
 * ```
 */
export async function ensureCounter(ref: CounterRef, options: EnsureCounterOptions = {}): Promise<void> {
  // First, because it refuses what is no reference.
  counterDoc(ref);
  const { shards, holdFor = HOUR_MS } = options;
  const initial = hasOption(options, "initial") ? validTotal("initial", options.initial) : 0;
  const bounded = givenFlag(options, "bounded");
  if (bounded && !(Number.isSafeInteger(initial) && initial >= 0)) {
    throw new CounterError("counter/invalid-amount", `initial is ${initial}; pass a whole number, 0 or larger`);
  }
  if (shards !== undefined) validReservation(shards, holdFor, bounded ? MAX_STOCK_SHARDS : MAX_SHARDS);
  await endingBy(options, () => ensure(ref, initial, bounded, shards, holdFor));
}

async function ensure(
  ref: CounterRef,
  initial: number,
  bounded: boolean,
  shards: number | undefined,
  holdFor: number,
): Promise<void> {
  // Reserved at once, or the functions would bring the units together before.
  const reserved = shards === undefined ? {} : { ...reservation(shards, holdFor), shardCount: shards };
  const createIfMissing = () =>
    retry(() =>
      ref.firestore.runTransaction(async (transaction) => {
        const { exists, isBounded } = await look(transaction, ref);
        if (exists && bounded && !isBounded) throw notBounded(ref);
        if (!exists) create(transaction, ref, initial, bounded ? stockShards(initial, shards ?? 1) : 0, reserved);
        return !exists;
      }),
    );
  const created = await createIfMissing().catch((error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    // Another writer was first, or an attempt whose answer was lost.
    return createIfMissing();
  });
  if (shards !== undefined && !created) await reserveShards(ref, shards, holdFor);
}

/**
 * A counter exists as soon as anything has counted, also before its first publish. `setCounterSource` alone makes none.
 *
 * Cost: 3 reads.
 */
async function look(transaction: Transaction, ref: CounterRef): Promise<{ exists: boolean; isBounded: boolean }> {
  const any = (path: string) => transaction.get(ref.firestore.collection(path).select().limit(1));
  const [counter, shards, entries] = await Promise.all([
    transaction.get(counterDoc(ref)),
    any(shardsPath(ref.path)),
    any(entriesPath(ref.path)),
  ]);
  const isWritten = counter.get("asOf") !== undefined || counter.get("direct") !== undefined;
  return { exists: isWritten || !shards.empty || !entries.empty, isBounded: counter.get("bounded") === true };
}

/**
 * Writes `base` in every counter. Of several calls one makes the counter, and the others then find it.
 *
 * @param stockIn   over how many shards the units of a bounded counter are spread; 0 if it is not bounded
 * @param reserved  fields of the counter document
 */
function create(transaction: Transaction, ref: CounterRef, initial: number, stockIn: number, reserved: object): void {
  const at = FieldValue.serverTimestamp();
  const inBase = stockIn > 0 ? 0 : initial;
  transaction.create(shardDoc(ref, BASE_SHARD), { shard: BASE_SHARD, count: inBase, writes: 0, at });
  for (const [index, count] of evenShares(initial, stockIn).entries()) {
    transaction.create(shardDoc(ref, `${index}`), { shard: `${index}`, count, writes: 0, at });
  }
  const fields = {
    // The next publish leaves the initial total out of the windows.
    ...(initial !== 0 && { adjusted: FieldValue.increment(initial) }),
    ...(stockIn > 0 && { bounded: true }),
    ...reserved,
  };
  // Even without fields: the function `ingest` looks for the document alone.
  transaction.set(counterDoc(ref), fields, { merge: true });
}

function notBounded({ id }: CounterRef): CounterError {
  return new CounterError(
    "counter/not-bounded",
    `"${id}" exists and is not bounded; name another counter, or delete this one first`,
  );
}

function validReservation(shards: number, holdFor: number, most: number): void {
  if (!(Number.isInteger(shards) && shards >= 1 && shards <= most)) {
    throw new CounterError("counter/invalid-option", `shards is ${shards}; pass a whole number from 1 to ${most}`);
  }
  if (!(holdFor > 0 && holdFor <= MAX_HOLD_MS)) {
    throw new CounterError("counter/invalid-option", `holdFor is ${holdFor}; pass milliseconds, up to 30 days`);
  }
}

function reservation(shards: number, holdFor: number): { reservation: Reservation<Timestamp> } {
  return { reservation: { shards, until: Timestamp.fromMillis(Date.now() + holdFor) } };
}

/** Writes `shardCount` for the clients, and the reservation, which the functions apply with each publish. */
async function reserveShards(ref: CounterRef, shards: number, holdFor: number): Promise<void> {
  await retry(() =>
    ref.firestore.runTransaction(async (transaction) => {
      const known = (await transaction.get(counterDoc(ref))).get("shardCount");
      const shardCount = Math.max(Number(known) || 1, shards);
      transaction.set(
        counterDoc(ref),
        { ...reservation(shards, holdFor), shardCount },
        { mergeFields: ["reservation", "shardCount"] },
      );
      wake(transaction as unknown as WriteBatch, ref);
    }),
  );
}

const MAX_HOLD_MS = 30 * 24 * HOUR_MS;
