/**
 * Makes the emulator treat a contended document as production does: first a write takes longer, then it is ABORTED.
 *
 * The emulator writes one document as fast as a hundred, so the problem that sharding solves is invisible there. Not modelled:
 * limits that depend on a document's size and indexes, and the ramp-up of a new key range (500/50/5). The emulator has the locks
 * of read-write transactions itself; with latency in the proxy they last for the round trips.
 *
 * Sources of the defaults:
 * - The rate: "a sustained write limit of 1 QPS per document"
 *   (https://firebase.googleblog.com/2019/03/increment-server-side-cloud-firestore.html), and 10 shards "can handle 10x as
 *   many writes" (https://firebase.google.com/docs/firestore/solutions/counters). Today's documentation gives no figure: it
 *   "depends highly on the workload"
 *   (https://firebase.google.com/docs/firestore/best-practices#updates_to_a_single_document).
 * - The burst: ten updates in a loop all succeeded, and the limit is a sustained rate, not a hard one
 *   (https://github.com/firebase/firebase-js-sdk/issues/495). That a rest allows a burst again is an assumption.
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

/** Commits that the governor delayed or refused. */
export interface GovernorCounts {
  waited: number;
  aborted: number;
}

/**
 * A governor for one or several proxies in front of one emulator.
 *
 * A write stream applies its writes in order: a write that waits delays the later ones, and after a refused write the SDK sends
 * the later ones again. A `BatchWrite` waits or is refused as a whole; in production each of its writes does by itself.
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

/** The documents that a commit writes. A write that only verifies a document has no name here and is not limited. */
function namesOf(writes: readonly WriteMessage[]): Set<string> {
  return new Set(
    writes.map((write) => write.update?.name ?? write.delete).filter((name) => name !== undefined && name !== null),
  );
}
