/**
 * How many uses of a rate limit a look at its document grants: the generic cell rate algorithm (GCRA), with leases.
 *
 * The document's `tat`, the theoretical arrival time, says when the whole burst is free again. Each granted use moves it on by one
 * interval, from now at the earliest, and it must stay within `burst` intervals from now. A lease, whose uses may be made until
 * it ends, counts as if all were made at its end: it moves `tat` on from there.
 *
 * Proof of the bound: a use within [a, b] was granted by b and arrives at a or later (now, or at its lease's end). Consider all
 * of them. Before the first, `tat` is moved to a or later; each moves it on by an interval; after the last it is at most b plus
 * `burst` intervals. So they are at most burst + rate · (b − a), in whatever mix, since `tat` never falls.
 */
import { CounterError } from "../../core/src/index.ts";

/** Options of `rateLimiter`. */
export interface RateLimitOptions {
  /** How many uses are allowed in each `per`. */
  limit: number;
  /** In milliseconds. */
  per: number;
  /** The most uses at once, after a pause; a whole number. Default: `limit`, rounded down, and at least 1. */
  burst?: number | undefined;
}

/** Microseconds, of which Firestore's timestamps are whole numbers. Since the epoch, or a duration. */
export type Micros = number;

/** A rate limit in the units of its document. */
export interface Limit {
  /** The most uses at once. */
  readonly burst: number;
  /** The time in which `burst` uses become free again: `burst` intervals. A whole number. */
  readonly refill: Micros;
  /** How long a lease may be used: at most a second, and at most half of `refill`, so that leases share at least the other half. */
  readonly leaseLife: Micros;
}

/** What a look at the document grants. */
export interface Grant {
  /** Of each call, in their order, whether it is allowed. */
  readonly allowed: readonly boolean[];
  /** How many more uses the process may make until `leaseLife` from now. */
  readonly leased: number;
  /** The document's next `tat`; the same as before if nothing is granted. */
  readonly tat: Micros;
}

const MAX_LEASE_LIFE: Micros = 1_000_000;

/** Ten years, so that `tat` is a valid timestamp. */
const MAX_REFILL: Micros = 3_650 * 86_400_000_000;

/** @throws CounterError `counter/invalid-option` */
export function limitOf({ limit, per, burst }: RateLimitOptions): Limit {
  accept("limit", limit, isPositive(limit), "a positive number of uses");
  accept("per", per, isPositive(per), "a positive number of milliseconds");
  const uses = burst ?? Math.max(1, Math.floor(limit));
  accept("burst", uses, Number.isSafeInteger(uses) && uses >= 1, "a whole number of uses, at least 1");
  // Rounded up, as in `intervals`: the limit is never exceeded, and `burst` uses at once are allowed.
  const refill = Math.ceil((uses / limit) * per * 1_000);
  const inTime = "options with which the burst is free again after at most ten years";
  accept("burst · per / limit", refill / 1_000, refill >= 1 && refill <= MAX_REFILL, inTime);
  return { burst: uses, refill, leaseLife: Math.min(MAX_LEASE_LIFE, Math.floor(refill / 2)) };
}

function isPositive(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) > 0;
}

function accept(what: string, value: unknown, isValid: boolean, accepted: string): void {
  if (!isValid) throw new CounterError("counter/invalid-option", `${what} is ${shown(value)}; pass ${accepted}`);
}

/** An object may not convert to a string. */
export function shown(value: unknown): string {
  return typeof value === "object" ? "an object" : `"${String(value).slice(0, 60)}"`;
}

/**
 * Decides on the calls one after the other, each as a whole; then on the lease, which may be smaller than asked. With a
 * refused call there is no lease: the uses are left for its repetition.
 *
 * @param tat    the document's; undefined without a document
 * @param now    the server's time of the read; it must not fall from one grant to the next
 * @param calls  the amounts of the calls that wait
 * @param lease  how many uses are asked beyond them
 */
export function decideGrant(
  tat: Micros | undefined,
  now: Micros,
  calls: readonly number[],
  lease: number,
  limit: Limit,
): Grant {
  // No grant of this limit leaves `tat` later than that: it was written under other options.
  const before = Math.min(tat ?? now, now + limit.refill);
  let uses = 0;
  const free = usesWithin(before, now, now, limit);
  const allowed = calls.map((n) => {
    const fits = uses + n <= free;
    if (fits) uses += n;
    return fits;
  });
  const direct = uses > 0 ? Math.max(before, now) + intervals(uses, limit) : before;
  const leaseEnd = now + limit.leaseLife;
  const leased = allowed.includes(false) ? 0 : Math.min(lease, usesWithin(direct, leaseEnd, now, limit));
  return { allowed, leased, tat: leased > 0 ? Math.max(direct, leaseEnd) + intervals(leased, limit) : direct };
}

/** How long until `n` uses are free, if no other process takes them: 0 or less if they are. */
export function waitFor(n: number, tat: Micros, now: Micros, limit: Limit): Micros {
  return tat + intervals(n, limit) - limit.refill - now;
}

/** By how much `n` uses move `tat` on. */
function intervals(n: number, { burst, refill }: Limit): Micros {
  return Math.ceil((n / burst) * refill);
}

/** How many uses that arrive at `arrival` are free now. */
function usesWithin(tat: Micros, arrival: Micros, now: Micros, limit: Limit): number {
  const room = now + limit.refill - Math.max(tat, arrival);
  // The quotient may have been rounded either way.
  let uses = Math.max(0, Math.floor((room / limit.refill) * limit.burst) + 1);
  while (uses > 0 && intervals(uses, limit) > room) uses--;
  return uses;
}
