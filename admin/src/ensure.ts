/** Creates a counter that does not exist, and reserves shards for a crowd. */
import {
  type DocumentSnapshot,
  FieldValue,
  Timestamp,
  type Transaction,
  type WriteBatch,
} from "firebase-admin/firestore";
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
import { type CallOptions, retry, throwIfAborted, withSignal } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc, isWritten, shardDoc } from "./counter.ts";
import { triggerPublish } from "./publish.ts";
import { validTotal } from "./reset.ts";

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
 * Cost: 1 read, and 2 more if the counter was never published, 3 with `bounded`. If it does not exist, 2 writes, and 1 per shard that
 * gets units of a bounded counter, at least 1. If it exists, 1 read and 2 writes more with `shards`.
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
  await withSignal(options, () => ensure(ref, { initial, bounded, shards, holdFor }));
}

/** The valid options of a call. */
interface Plan {
  readonly initial: number;
  readonly bounded: boolean;
  readonly shards: number | undefined;
  readonly holdFor: number;
}

async function ensure(ref: CounterRef, plan: Plan): Promise<void> {
  const counter = await retry(() => counterDoc(ref).get());
  const isKnown = isWritten(counter);
  if (isKnown) refuseUnbounded(ref, plan, counter);
  const create = () => retry(() => (plan.bounded ? createStock(ref, plan) : createPlain(ref, plan, counter)));
  const created =
    !isKnown &&
    (await create().catch((error) => {
      if (codeOf(error) !== ALREADY_EXISTS) throw error;
      // Another writer was first, or an attempt whose answer was lost. Only of stock it matters what was made.
      return plan.bounded && create();
    }));
  if (plan.shards !== undefined && !created) await reserveShards(ref, plan.shards, plan.holdFor);
}

/** In one transaction, so that no shard of the stock is below zero. @returns whether the counter was missing */
async function createStock(ref: CounterRef, plan: Plan): Promise<boolean> {
  return await ref.firestore.runTransaction(async (transaction) => {
    throwIfAborted();
    const existing = await findExisting(transaction, ref);
    if (existing) refuseUnbounded(ref, plan, existing);
    else addCounter(transaction as unknown as WriteBatch, ref, plan);
    return !existing;
  });
}

/**
 * An increment that is committed after the look counts as one that follows the call.
 *
 * @param counter  the counter document, read before
 * @returns whether the counter was missing
 */
async function createPlain(ref: CounterRef, plan: Plan, counter: DocumentSnapshot): Promise<boolean> {
  if (await findExisting(withoutTransaction, ref, counter)) return false;
  const batch = ref.firestore.batch();
  addCounter(batch, ref, plan);
  throwIfAborted();
  await batch.commit();
  return true;
}

/** What reads, in a transaction or without one. */
type Reader = Pick<Transaction, "get">;
const withoutTransaction = { get: (one: { get(): Promise<unknown> }) => one.get() } as Reader;

/**
 * A counter exists as soon as anything has counted, also before its first publish. `setCounterSource` alone makes none.
 *
 * Cost: 2 reads, 3 without the counter document.
 *
 * @returns the counter document, which may be missing, of a counter that exists
 */
async function findExisting(
  reader: Reader,
  ref: CounterRef,
  counter?: DocumentSnapshot,
): Promise<DocumentSnapshot | undefined> {
  const any = (path: string) => reader.get(ref.firestore.collection(path).select().limit(1));
  const [shards, entries] = await Promise.all([any(shardsPath(ref.path)), any(entriesPath(ref.path))]);
  // Last: the commit that has made the first shard of stock has also said so in the document.
  const document = counter ?? (await reader.get(counterDoc(ref)));
  return isWritten(document) || !shards.empty || !entries.empty ? document : undefined;
}

/** Writes `base` in every counter. Of several calls one makes the counter, and the others then find it. */
function addCounter(batch: WriteBatch, ref: CounterRef, { initial, bounded, shards, holdFor }: Plan): void {
  const at = FieldValue.serverTimestamp();
  batch.create(shardDoc(ref, BASE_SHARD), { shard: BASE_SHARD, count: bounded ? 0 : initial, writes: 0, at });
  const parts = bounded ? evenShares(initial, stockShards(initial, shards ?? 1)) : [];
  for (const [index, count] of parts.entries()) {
    batch.create(shardDoc(ref, `${index}`), { shard: `${index}`, count, writes: 0, at });
  }
  const fields = {
    // The next publish leaves the initial total out of the windows.
    ...(initial !== 0 && { adjusted: FieldValue.increment(initial) }),
    ...(bounded && { bounded: true }),
    // Reserved at once, or the functions would bring the units together before.
    ...(shards !== undefined && { ...reservation(shards, holdFor), shardCount: shards }),
  };
  // Even without fields: the function `ingest` looks for the document alone.
  batch.set(counterDoc(ref), fields, { merge: true });
}

/** @throws CounterError `counter/not-bounded` */
function refuseUnbounded({ id }: CounterRef, { bounded }: Plan, counter: DocumentSnapshot): void {
  if (!bounded || counter.get("bounded") === true) return;
  throw new CounterError(
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
      throwIfAborted();
      const known = (await transaction.get(counterDoc(ref))).get("shardCount");
      const shardCount = Math.max(Number(known) || 1, shards);
      transaction.set(
        counterDoc(ref),
        { ...reservation(shards, holdFor), shardCount },
        { mergeFields: ["reservation", "shardCount"] },
      );
      triggerPublish(transaction, ref);
    }),
  );
}

const MAX_HOLD_MS = 30 * 24 * HOUR_MS;
