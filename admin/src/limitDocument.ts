/**
 * Decides on calls by the document of a rate limit, which all processes share.
 *
 * The write has the precondition that the document is as it was read, so no other grant is between the two, and the time of the
 * read is the time of the grant. Transactions of the SDK would take locks: two that have read the document wait for each other
 * until one of them is aborted, which for eight processes on the emulator took up to 18 seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type DocumentReference, type DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import {
  ABORTED,
  CounterError,
  codeOf,
  isPreconditionFailure,
  type ServerLimitDocument,
} from "../../core/src/index.ts";
import { COMMIT_TIMEOUT_MS, unchanged, withTimeout } from "../../firestore/src/index.ts";
import { decideGrant, type Grant, type Limit, type Micros } from "./leaseDecision.ts";

/** A grant that is stored. */
export interface StoredGrant extends Grant {
  /** The server's time. */
  readonly now: Micros;
  /** By `performance.now()`, not after the server's time. */
  readonly began: number;
}

/** How often a process tries to write before another one does. */
const MAX_TRIES = 20;

const MAX_BACKOFF_MS = 100;

/**
 * Reads the document, decides, and stores what is granted; again if another process was first. Cost: 1 read; 1 write if anything
 * is granted; 1 read for each repetition. A write whose outcome is unknown may be made twice: then uses are lost.
 *
 * @throws CounterError `counter/contention`; Firestore's errors, DEADLINE_EXCEEDED after ten seconds without an answer
 */
export async function grant(
  document: DocumentReference,
  calls: readonly number[],
  lease: number,
  limit: Limit,
): Promise<StoredGrant> {
  for (let tries = 1; ; tries++) {
    const began = performance.now();
    // While this call waits, so do all later ones for the key.
    const stored = await withTimeout(COMMIT_TIMEOUT_MS, document.get());
    const now = serverTime(stored);
    const decided = decideGrant(microsOf(stored.get("tat")), now, calls, lease, limit);
    if (decided.leased === 0 && !decided.allowed.includes(true)) return { ...decided, began, now };
    const time = timestampOf(decided.tat);
    const next: ServerLimitDocument<Timestamp> = { tat: time, expireAt: time };
    try {
      const written = stored.exists ? document.update({ ...next }, unchanged(stored)) : document.create(next);
      await withTimeout(COMMIT_TIMEOUT_MS, written);
      return { ...decided, began, now };
    } catch (error) {
      if (!isPreconditionFailure(error) && codeOf(error) !== ABORTED) throw error;
      if (tries === MAX_TRIES) throw contention(document, error);
    }
    await sleep(Math.random() * Math.min(10 * tries, MAX_BACKOFF_MS));
  }
}

function contention({ path }: DocumentReference, cause: unknown): CounterError {
  return new CounterError(
    "counter/contention",
    `other processes changed ${path} first, ${MAX_TRIES} times; try again later, or allow a larger burst, of which a process can lease more`,
    cause,
  );
}

/** The time of a read; not before the last write, so it never falls from one grant to the next. */
function serverTime({ readTime, updateTime }: DocumentSnapshot): Micros {
  return Math.max(microsOf(readTime) as Micros, microsOf(updateTime) ?? 0);
}

/** A timestamp, of whatever copy of the SDK. */
function microsOf(time: Partial<Timestamp> | undefined): Micros | undefined {
  const { seconds, nanoseconds = 0 } = time ?? {};
  return typeof seconds === "number" ? seconds * 1_000_000 + Math.floor(nanoseconds / 1_000) : undefined;
}

function timestampOf(micros: Micros): Timestamp {
  return new Timestamp(Math.floor(micros / 1_000_000), (micros % 1_000_000) * 1_000);
}
