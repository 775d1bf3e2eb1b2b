/** Creates a counter that does not exist, and reserves shards for a crowd. */
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import { ALREADY_EXISTS, BASE_SHARD, CounterError, codeOf, MAX_SHARDS } from "../../core/src/index.ts";
import { type CounterRef, counterDoc, shardDoc } from "./counter.ts";
import { validTotal } from "./reset.ts";
import { retry } from "./retry.ts";

/** Options of {@link ensureCounter}. */
export interface EnsureOptions {
  /** The total of a counter that does not exist yet. Default 0. */
  initial?: number | undefined;
  /** The fewest shards writers spread over, 1 to 10,000, for an expected crowd. Default: no reservation. */
  shards?: number | undefined;
  /** How long the reservation of `shards` holds, in milliseconds. Default: an hour. */
  holdFor?: number | undefined;
}

const HOUR_MS = 3_600_000;

/**
 * Makes sure that a counter exists. If it does not, it starts at `initial`. If it does, its total does not change, so the call
 * is idempotent. Increments may go on meanwhile, and count.
 *
 * Call it before the first increment: a counter that has been incremented exists.
 *
 * With `shards`, writers spread over at least so many from now on, for an hour or `holdFor`. Then a crowd that comes all at
 * once does not wait for the counter to grow. The parameter `MAX_SHARDS` of the functions still holds.
 *
 * Cost: 2 reads, and 1 write if it does not exist, 2 with `initial`; 1 read and 2 writes more with `shards`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-option`
 *
 * @example
 * ```ts
 * await ensureCounter(counter(db, "stock:shoes"), { initial: 500 });
 * await ensureCounter(counter(db, "votes:final"), { shards: 200 });
 * ```
 */
export async function ensureCounter(ref: CounterRef, options: EnsureOptions = {}): Promise<void> {
  const { initial = 0, shards, holdFor = HOUR_MS } = options;
  validTotal(initial);
  if (shards !== undefined) validReservation(shards, holdFor);
  const base = shardDoc(ref, BASE_SHARD);
  await retry(async () => {
    // A counter document without `asOf` was never published: `setSource` may have created it.
    const [counter, known] = await ref.firestore.getAll(counterDoc(ref), base, { fieldMask: ["asOf"] });
    if (counter?.get("asOf") !== undefined || known?.exists) return;
    const batch = base.firestore.batch();
    batch.create(base, { shard: BASE_SHARD, count: initial, writes: 0, at: FieldValue.serverTimestamp() });
    // The next publish leaves the initial total out of the windows.
    if (initial !== 0) batch.set(counterDoc(ref), { adjusted: FieldValue.increment(initial) }, { merge: true });
    await batch.commit();
  }).catch((error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
  });
  if (shards !== undefined) await reserveShards(ref, shards, holdFor);
}

function validReservation(shards: number, holdFor: number): void {
  if (!(Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS)) {
    throw new CounterError(
      "counter/invalid-option",
      `shards is ${shards}; pass a whole number from 1 to ${MAX_SHARDS}`,
    );
  }
  if (!(holdFor > 0 && holdFor <= MAX_HOLD_MS)) {
    throw new CounterError("counter/invalid-option", `holdFor is ${holdFor}; pass milliseconds, up to 30 days`);
  }
}

/**
 * Writes `shardCount` for the clients, and the reservation, which the functions apply with each publish. The write of `base`
 * triggers the functions, because a quiet counter is polled too rarely for shards whose writes trigger nothing.
 */
async function reserveShards(ref: CounterRef, shards: number, holdFor: number): Promise<void> {
  await retry(() =>
    ref.firestore.runTransaction(async (transaction) => {
      const known = (await transaction.get(counterDoc(ref))).get("shardCount");
      const reservation = { shards, until: Timestamp.fromMillis(Date.now() + holdFor) };
      const shardCount = Math.max(Number(known) || 1, shards);
      transaction.set(counterDoc(ref), { reservation, shardCount }, { mergeFields: ["reservation", "shardCount"] });
      const trigger = { shard: BASE_SHARD, writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
      transaction.set(shardDoc(ref, BASE_SHARD), { count: FieldValue.increment(0), ...trigger }, { merge: true });
    }),
  );
}

const MAX_HOLD_MS = 30 * 24 * HOUR_MS;
