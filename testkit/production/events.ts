/**
 * Events of Firestore, as Eventarc delivers them to functions: at least once, in no order, with retries (`invocations.ts`) — except
 * large ones, which never arrive.
 */
import type { Random } from "../../core/testing/random.ts";
import type { StoredFields } from "../../costs/src/index.ts";
import type { Millis } from "../statistics.ts";
import { messageBytes } from "./sizes.ts";

/**
 * Eventarc carries events of 512 KB (https://cloud.google.com/eventarc/docs/quotas), which `value` and `oldValue`, the document after
 * and before the write, share. That a larger one is lost without a trace is an assumption: no page names an error or a retry.
 */
const MAX_EVENT_BYTES = 512_000;

/** @param bytes  of the event's data */
export function isEventLost(bytes: number): boolean {
  return bytes > MAX_EVENT_BYTES;
}

/** The size of an event's data. @param versions  the document before and after the write; a missing one has no fields */
export function eventBytes(...versions: readonly (StoredFields | undefined)[]): number {
  return versions.reduce((sum, fields) => sum + (fields ? messageBytes(fields) : 0), 0);
}

/** From a commit to the function, usually. Assumption: Google gives no figure. */
export const EVENT_LATENCY: Millis = 200;

/** Delays for the search for races. Assumptions: often sooner than usual, in bad times minutes, in an outage hours. */
const PROMPT = { shortest: 20, longest: 120 } as const;
const LATE: Millis = 90_000;
const OUTAGE = { share: 0.02, longest: 3 * 3_600_000 } as const;

export type EventFault = "duplicate events" | "late events" | "events lost for hours";

/**
 * How long after its commit an event is delivered: once, or twice.
 *
 * @param share   of the events that get a fault
 * @param inject  whether a fault that is due strikes
 */
export function eventDelays(random: Random, share: number, inject: (fault: EventFault) => boolean): Millis[] {
  const isDuplicated = random.chance(share) && inject("duplicate events");
  const isLate = random.chance(share) && inject("late events");
  const isOutage = random.chance(OUTAGE.share) && inject("events lost for hours");
  // The second copy draws its numbers in any case, so that duplicates change little else.
  const delays = [1, 2].map(() => {
    const prompt = random.between(PROMPT.shortest, PROMPT.longest);
    const late = random.between(0, LATE);
    return isOutage ? random.between(0, OUTAGE.longest) : isLate ? late : prompt;
  });
  return isDuplicated ? delays : delays.slice(0, 1);
}
