/** Retries calls to Firestore until their outcome is known, and bounds how long each may take. */
import { setTimeout as wait } from "node:timers/promises";
import { codeOf, DEADLINE_EXCEEDED } from "../../core/src/index.ts";
import { isAborted, throwIfAborted } from "./signal.ts";

/** Cancelled, unknown, deadline exceeded, resource exhausted, aborted, internal, unavailable: the call may have succeeded. */
const TRANSIENT = [1, 2, 4, 8, 10, 13, 14];

/** The longest wait between two attempts. */
const MAX_BACKOFF_MS = 10_000;

/** Whether the call may have succeeded. Missing credentials also come as "unknown", but then no call was sent. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.includes(codeOf(error) ?? -1) && !String(error).includes("metadata from plugin");
}

/** How long a read may take that is not retried. Where nothing answers, the Admin SDK waits for over 20 minutes. */
const READ_TIMEOUT_MS = 60_000;

/** @throws after a minute without an answer, an error with the code DEADLINE_EXCEEDED */
export function withReadTimeout<T>(read: Promise<T>): Promise<T> {
  return withTimeout(READ_TIMEOUT_MS, read);
}

/** How long a call is retried. */
export const RETRY_FOR_MS = 12 * 3_600_000;

/** A call that has no result after this time logs a warning, at most one per process in this time. */
const WARN_AFTER_MS = 30_000;

/** Waits before the next attempt: exponential backoff with full jitter. */
export async function backoff(attempt: number): Promise<void> {
  await wait(Math.random() * Math.min(100 * 2 ** attempt, MAX_BACKOFF_MS));
}

/** How long a commit, or a read that others wait for, may take. */
export const COMMIT_TIMEOUT_MS = 10_000;

/**
 * Bounds a call of Firestore. Where a client has locked a document, or a crowd writes it, Firestore refuses the commit, and the Admin SDK
 * repeats it there, for up to ten minutes (`total_timeout_millis` in its `firestore_client_config.json`).
 *
 * @throws after that time, an error with the code DEADLINE_EXCEEDED. The call may still succeed
 */
export async function withTimeout<T>(milliseconds: number, call: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_, reject) => {
    const error = new Error(`Firestore gave no answer within ${Math.round(milliseconds)} ms`);
    timer = setTimeout(() => reject(Object.assign(error, { code: DEADLINE_EXCEEDED })), milliseconds);
  });
  return await Promise.race([call, expired]).finally(() => clearTimeout(timer));
}

/**
 * Repeats `attempt` while it fails with an unknown outcome, for half a day, or until the signal of the call is aborted. It must be safe to
 * repeat.
 */
export async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + RETRY_FOR_MS;
  let failure: unknown = "no answer";
  const warning = setTimeout(() => isAborted() || warn(failure), WARN_AFTER_MS);
  try {
    for (let tries = 0; ; tries++) {
      throwIfAborted();
      try {
        return await withTimeout(giveUpAt - Date.now(), attempt());
      } catch (error) {
        if (!isTransient(error) || Date.now() >= giveUpAt) throw error;
        failure = error;
      }
      await backoff(tries);
    }
  } finally {
    clearTimeout(warning);
  }
}

let warnedAt = Number.NEGATIVE_INFINITY;

function warn(failure: unknown): void {
  if (performance.now() - warnedAt < WARN_AFTER_MS) return;
  warnedAt = performance.now();
  console.warn("firestore-tally: a call to Firestore has had no result for 30 seconds, and is still retried.", failure);
}
