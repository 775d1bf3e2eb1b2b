/**
 * Adds to a counter without a key, exactly once under retries: each commit creates a receipt, a document with a random name,
 * and cannot succeed again while the receipt exists.
 *
 * A receipt expires a day after the last call that could have created it, and calls are repeated for half a day. So no call is
 * repeated after its receipt expired, and a call that Firestore or the SDK sends twice has half a day to arrive.
 */
import { type DocumentReference, Timestamp } from "firebase-admin/firestore";
import { ALREADY_EXISTS, CounterError, codeOf, type ReceiptDocument, receiptsPath } from "../../core/src/index.ts";
import { commitOnce } from "./commit.ts";
import { type Counter, type CounterRef, firestoreOf } from "./counter.ts";

const DAY_MS = 24 * 3_600_000;

/** How long an increment with an unknown outcome is retried. */
const RETRY_FOR_MS = DAY_MS / 2;

/**
 * Cost: 2 writes, and 1 delete when the receipt expires; 1 read if it is refused.
 *
 * @throws CounterError `counter/unknown-outcome` if it may count; else Firestore's error
 */
export async function addWithReceipt(counter: Counter, by: number): Promise<void> {
  const receipt = newReceipt(counter);
  const start = Date.now();
  let tries = 0;
  try {
    await commitOnce(counter, by, (batch) => {
      const now = Date.now();
      if (tries++ > 0 && now - start > RETRY_FOR_MS) throw new Error("no response for half a day");
      batch.create(receipt, receiptContent());
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

/** The content of a receipt that is sent now. */
export function receiptContent(): ReceiptDocument<Timestamp> {
  return { expireAt: Timestamp.fromMillis(Date.now() + DAY_MS) };
}

/** Whether the commit certainly succeeded. If not, it may still arrive. */
async function receiptExists(receipt: DocumentReference): Promise<boolean> {
  return await receipt.get().then(
    ({ exists }) => exists,
    () => false,
  );
}

function unknownOutcome(cause: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "the increment may or may not count: a call had no response, and now it cannot be retried. Do not repeat it",
    cause,
  );
}
