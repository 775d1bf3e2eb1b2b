/**
 * Makes the emulator treat a contended document as production does: first a write takes longer, then it is ABORTED.
 *
 * The emulator writes one document as fast as a hundred, so the problem that sharding solves is invisible there.
 * `production/contention.ts` has the limits with their sources. The emulator has the locks of read-write transactions itself; with
 * latency in the proxy they last for the round trips.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import type { Message, Method, WriteMessage } from "./firestoreMessages.ts";
import { type Inspection, Refused } from "./grpcProxy.ts";
import { ABORTED_MESSAGE, WRITE_LIMITS, WriteLimiter, type WriteLimits } from "./production/contention.ts";

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
export function governor(limits: WriteLimits = WRITE_LIMITS): {
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
      throw new Refused(status.ABORTED, ABORTED_MESSAGE);
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
