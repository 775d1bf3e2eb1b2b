/**
 * Adds to a counter without a key, and counts once whatever becomes of a call: each commit leaves a receipt, a document
 * under a random name, and cannot be made again as long as that is there.
 *
 * A receipt stays for a day after the last call that could have made it, and a call is repeated for half of that. So none is
 * repeated whose receipt may have gone, and what Firestore or the SDK sends twice has half a day to arrive.
 */
import { type DocumentReference, Timestamp } from "firebase-admin/firestore";
import { ALREADY_EXISTS, CounterError, codeOf, type ReceiptDocument, receiptsPath } from "../../core/src/index.ts";
import { commitOnce } from "./commit.ts";
import type { Counter } from "./counter.ts";

const DAY_MS = 24 * 3_600_000;

/** How long an increment is tried whose outcome is unknown. */
const RETRY_FOR_MS = DAY_MS / 2;

/**
 * Cost: 2 writes, and 1 delete when the receipt expires; 1 read if it is refused.
 *
 * @throws CounterError `counter/unknown-outcome` if it may count; else, what Firestore refuses it with
 */
export async function addOnce(counter: Counter, by: number): Promise<void> {
  const receipt = counter.firestore.collection(receiptsPath(counter.path)).doc();
  const start = Date.now();
  let tries = 0;
  try {
    await commitOnce(counter, by, (batch) => {
      const now = Date.now();
      if (tries++ > 0 && now - start > RETRY_FOR_MS) throw new Error("no answer for half a day");
      batch.create(receipt, { expireAt: Timestamp.fromMillis(now + DAY_MS) } satisfies ReceiptDocument<Timestamp>);
    });
  } catch (error) {
    if (codeOf(error) === ALREADY_EXISTS || (await receiptExists(receipt))) return;
    throw tries > 1 ? unknownOutcome(error) : error;
  }
}

/** Whether it was committed for certain. Not there, it may still arrive. */
async function receiptExists(receipt: DocumentReference): Promise<boolean> {
  return await receipt.get().then(
    ({ exists }) => exists,
    () => false,
  );
}

function unknownOutcome(cause: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "the increment may count or not: a call was sent whose answer never came, and now it cannot be tried again. Do not repeat it",
    cause,
  );
}
