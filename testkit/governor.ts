/**
 * Makes the emulator behave as production does with a hot document: first a write takes longer, then it is ABORTED.
 *
 * The emulator takes one document as fast as a hundred, so the problem that sharding solves is invisible there. What is
 * not modelled: that the limit depends on the document's size and indexes, and the warming up of a new key range (500/50/5).
 * Locks of read-write transactions the emulator has itself; with a latency in the proxy they last for the round trips.
 *
 * Sources of the defaults:
 * - The rate: "a sustained write limit of 1 QPS per document"
 *   (https://firebase.googleblog.com/2019/03/increment-server-side-cloud-firestore.html), and 10 shards "can handle 10x as
 *   many writes" (https://firebase.google.com/docs/firestore/solutions/counters). Today's documentation gives no figure: it
 *   "depends highly on the workload"
 *   (https://firebase.google.com/docs/firestore/best-practices#updates_to_a_single_document).
 * - The burst: ten updates in a loop were all taken, and the limit is on what is sustained, not a hard one
 *   (https://github.com/firebase/firebase-js-sdk/issues/495). That a burst is forgiven once per rest is an assumption.
 * - First latency, then ABORTED: "contention, higher latency, or other errors" (best practices, as above), and "a document
 *   receiving too many updates per second" (https://cloud.google.com/firestore/native/docs/understand-error-codes). The text
 *   is what SDKs report (https://github.com/googleapis/nodejs-firestore/issues/827).
 * - The longest wait of 10 seconds is an assumption: Google gives no figure.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import type { Message, Method, WriteMessage } from "./firestoreMessages.ts";
import { type Inspection, Refused } from "./grpcProxy.ts";
import { WriteLimiter, type WriteLimits } from "./writeLimiter.ts";

export const DEFAULT_LIMITS: WriteLimits = { perSecond: 1, burst: 10, longestWait: 10_000 };

/** What the governor did. */
export interface GovernorCounts {
  /** Commits that waited. */
  waited: number;
  /** Commits that were refused. */
  aborted: number;
}

/**
 * A governor for a proxy, or for several in front of one emulator: the documents are the same.
 *
 * A write stream applies its writes in order, so what comes behind a write that waits, waits; what comes behind one that
 * is refused is not applied, and the SDK sends it again. A `BatchWrite` waits, or is refused, as a whole; in production
 * each of its writes fares by itself.
 */
export function governor(limits: WriteLimits = DEFAULT_LIMITS): {
  governed: Readonly<GovernorCounts>;
  inspection: Inspection;
} {
  const documents = new WriteLimiter(limits);
  const governed: GovernorCounts = { waited: 0, aborted: 0 };
  const request = (message: Message): Promise<void> | undefined => {
    const { writes } = message.as<{ writes: readonly WriteMessage[] }>();
    if (writes.length === 0) return;
    const wait = documents.admit(namesOf(writes), performance.now());
    if (wait === undefined) {
      governed.aborted++;
      throw new Refused(status.ABORTED, "Too much contention on these documents. Please try again.");
    }
    if (wait === 0) return;
    governed.waited++;
    return sleep(wait);
  };
  return { governed, inspection: (method) => (WRITING.includes(method) ? { request } : undefined) };
}

const WRITING: readonly Method[] = ["BatchWrite", "Commit", "Write"];

/** A write that only verifies a document has no name here, and takes nothing. */
function namesOf(writes: readonly WriteMessage[]): Set<string> {
  return new Set(
    writes.map((write) => write.update?.name ?? write.delete).filter((name) => name !== undefined && name !== null),
  );
}
