/**
 * Adds to a counter without `once`, exactly once under retries: each commit creates a receipt, a document with a random name,
 * and cannot succeed again while the receipt exists.
 *
 * A receipt expires a day after the last call that could have created it, and calls are repeated for half a day. So no call is
 * repeated after its receipt expired, and a call that Firestore or the SDK sends twice has half a day to arrive.
 */
import { type DocumentReference, Timestamp, type WriteBatch } from "firebase-admin/firestore";
import { ALREADY_EXISTS, CounterError, codeOf, type ReceiptDocument, receiptsPath } from "../../core/src/index.ts";
import { RETRY_FOR_MS, withReadTimeout } from "../../firestore/src/index.ts";
import { commitOnce } from "./commit.ts";
import { type Counter, type CounterRef, firestoreOf } from "./counter.ts";

const DAY_MS = 24 * 3_600_000;

/**
 * Cost: 2 writes, and 1 delete when the receipt expires; 1 read if it is refused.
 *
 * @throws CounterError `counter/unknown-outcome` if it may count; else Firestore's error
 */
export async function addWithReceipt(counter: Counter, by: number): Promise<void> {
  const receipt = newReceipt(counter);
  const create = createReceipt(receipt);
  let tries = 0;
  try {
    await commitOnce(counter, by, (batch) => {
      create(batch);
      tries++;
    });
  } catch (error) {
    if (codeOf(error) === ALREADY_EXISTS || (await receiptExists(receipt))) return;
    throw tries > 1 ? unknownOutcome(error) : error;
  }
}

/** A receipt with a random name, which does not exist yet. */
export function newReceipt(ref: CounterRef): DocumentReference {
  return firestoreOf(ref).collection(receiptsPath(ref.path)).doc();
}

/**
 * A function that creates the receipt in the batch of each attempt.
 *
 * The function throws `counter/unknown-outcome` if the first attempt was half a day ago.
 *
 * @param lifetime  milliseconds until it expires. Default: a day
 */
export function createReceipt(receipt: DocumentReference, lifetime = DAY_MS): (batch: WriteBatch) => void {
  let first: number | undefined;
  return (batch) => {
    const now = Date.now();
    first ??= now;
    if (now - first > RETRY_FOR_MS) throw unknownOutcome("no response for half a day");
    batch.create(receipt, { expireAt: Timestamp.fromMillis(now + lifetime) } satisfies ReceiptDocument<Timestamp>);
  };
}

/** Whether the commit certainly succeeded. If not, it may still arrive. */
export async function receiptExists(receipt: DocumentReference): Promise<boolean> {
  return await withReadTimeout(receipt.get()).then(
    ({ exists }) => exists,
    () => false,
  );
}

export function unknownOutcome(cause: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "the increment or take may or may not count: a call had no response, and now it cannot be retried. Do not repeat it",
    cause,
  );
}
