/**
 * The public rate limiter: checks arguments, and keeps what the process knows of the keys that are in use.
 *
 * A key's state may be dropped at any time, since the document has everything that the bound depends on. `leaseDecision.ts` proves
 * the bound.
 */
import type { Firestore } from "firebase-admin/firestore";
import { CounterError, givenAmount, isDocumentId, serverLimitPath, validName } from "../../core/src/index.ts";
import { firestoreOf } from "./counter.ts";
import { type KeyState, newState, type RateLimitResult, takeUses } from "./keyLimiter.ts";
import { type Limit, limitOf, type RateLimitOptions, shown } from "./leaseDecision.ts";

/** A rate limit that all processes with the same database, name and options share. */
export interface RateLimiter {
  /**
   * Takes `n` uses of a key, all or none. Over all processes, at most `burst + W · limit / per` uses are allowed in any W
   * milliseconds; a use is counted at an instant between the call and its return.
   *
   * Cost: 1 read and 1 write, or 1 read if it is refused; calls that a process makes at the same time share that, and each
   * process that is first in between costs 1 read more. For a key with many calls, a process leases uses in advance, for a
   * second or half of the time in which the burst becomes free: then one write serves dozens of calls, and the others are
   * answered without I/O. After a refusal, further ones cost nothing until its `retryAfter`.
   *
   * What a lease does not use in its time is lost, also if the process ends: less than the limit is used then, never more. The
   * uses of a call that rejects may be lost, too.
   *
   * @param key - such as an API key, a user or an address: any Firestore document id
   * @param n - a whole number from 1 to `burst`. Default: 1
   * @throws CounterError `counter/invalid-key`, `counter/invalid-amount` before any I/O; `counter/contention` if other processes
   *         write first all the time; Firestore's errors
   *
   * @example
   * ```ts
   * const answer = await quota.take(apiKey);
   * if (!answer.allowed) response.status(429).set("Retry-After", `${Math.ceil(answer.retryAfter / 1_000)}`).end();
   * ```
   */
  take(key: string, n?: number): Promise<RateLimitResult>;
}

/** The state of a key without calls is dropped after this time. */
const IDLE_MS = 10_000;

/**
 * Limits how often something is done, exactly over all processes. No I/O. Make it once per process: it remembers the keys that
 * were used in the last seconds.
 *
 * Cost: that of {@link RateLimiter.take}.
 *
 * @param name - names the limit: any Firestore document id. Keys of different names are different
 * @throws CounterError `counter/invalid-option`; `counter/invalid-reference` for a database of another SDK
 *
 * @example
 * ```ts
 * const quota = rateLimiter(getFirestore(), "api", { limit: 100, per: 60_000 });
 * const { allowed } = await quota.take(apiKey);
 * ```
 */
export function rateLimiter(firestore: Firestore, name: string, options: RateLimitOptions): RateLimiter {
  const database = firestoreOf({ firestore });
  if (!isDocumentId(name)) {
    const accepted = '1-1500 bytes, no "/" or control character, not ".", "..", "__x__"';
    throw new CounterError("counter/invalid-option", `name is ${shown(name)}; pass ${accepted}`);
  }
  const limit = limitOf(options);
  /** Those without calls for the longest time are first. */
  const states = new Map<string, KeyState>();

  function stateOf(key: string): KeyState {
    const now = performance.now();
    for (const [idle, { demand }] of states) {
      if (now - (demand?.at ?? now) < IDLE_MS) break;
      states.delete(idle);
    }
    const state = states.get(key) ?? newState(database.doc(serverLimitPath(name, key)));
    states.delete(key);
    states.set(key, state);
    return state;
  }

  return {
    async take(key, ...given) {
      const n = givenAmount(given);
      validName("key", key);
      validUses(n, limit);
      return await takeUses(stateOf(key), n, limit);
    },
  };
}

function validUses(n: unknown, { burst }: Limit): void {
  if (Number.isInteger(n) && (n as number) >= 1 && (n as number) <= burst) return;
  throw new CounterError(
    "counter/invalid-amount",
    `n is ${shown(n)}; pass a whole number from 1 to the burst, ${burst}`,
  );
}
