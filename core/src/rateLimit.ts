/**
 * Which slot of a rate limit a client uses next, or how long it must wait.
 *
 * A slot rests for `burst × per / limit`, rounded up, after its last use. The client's clock may be wrong by any amount, so the times of
 * uses, which are the server's, are converted to the client's monotonic clock: as the bounds `from` and `to`, because the
 * difference of the two clocks is known within bounds only. A use is refused here only if its slot cannot be free; where the
 * bounds leave it open, the rules decide.
 */
import { CounterError } from "./errors.ts";
import { isDocumentId } from "./validation.ts";

/** How often a user may write: but for `uid`, the arguments of `isWithinLimit` in the rules. */
export interface RateLimit {
  /** The name of the limit. A document id, so without `/`. */
  readonly name: string;
  /** The uid of the signed-in user. */
  readonly uid: string;
  /** How many uses the user has in each `per`. */
  readonly limit: number;
  /** In milliseconds. */
  readonly per: number;
  /** How many uses the user has at once: 1 to 100. They become free again within a day: `burst × per / limit` is a day at most. */
  readonly burst: number;
}

/** Bounds of a time or of a difference, in milliseconds. */
interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** What a client knows of its uses of a limit. */
export interface KnownUses {
  /** When each slot was last used, by the client's clock. `to` is `Infinity` while the use is under way. */
  readonly uses: ReadonlyMap<number, Bounds>;
  /** The server's clock minus the client's. */
  readonly clockOffset: Bounds;
}

/** A slot, and whether it is free at the server. */
export interface SlotChoice {
  readonly slot: number;
  readonly state: "free" | "unknown" | "used";
  /** Milliseconds after which a slot is surely free. */
  readonly retryAfter: number;
}

/** A client's clock may run this much faster than the server's. */
const DRIFT = 1.001;

/** What a client knows before it has read the limit document. */
export function unknownUses(): KnownUses {
  return { uses: new Map(), clockOffset: { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY } };
}

/** Chooses the slot whose last use is longest ago, of those that may be free. */
export function chooseSlot(known: KnownUses, limit: RateLimit, now: number): SlotChoice {
  const delay = reuseDelay(limit);
  const mayBeFree = ({ from, to }: Bounds) => to < Number.POSITIVE_INFINITY && from + delay <= now;
  const isBetter = (one: Bounds, other: Bounds) =>
    mayBeFree(one) === mayBeFree(other) ? one.to < other.to : mayBeFree(one);
  let slot = 0;
  for (let n = 1; n < limit.burst; n++) if (isBetter(lastUse(known, n), lastUse(known, slot))) slot = n;
  const use = lastUse(known, slot);
  const state = isSurelyFree(known, slot, limit, now) ? "free" : mayBeFree(use) ? "unknown" : "used";
  // A use that is under way counts as of now.
  return { slot, state, retryAfter: Math.max(0, Math.ceil(Math.min(use.to, now) + delay * DRIFT - now)) };
}

/** Whether a slot was certainly free at an instant, whatever other devices of the user had done by the last read. */
export function isSurelyFree(known: KnownUses, slot: number, limit: RateLimit, at: number): boolean {
  return lastUse(known, slot).to + reuseDelay(limit) * DRIFT <= at;
}

/** Milliseconds after its last use until a slot is free again. */
function reuseDelay({ limit, per, burst }: RateLimit): number {
  return Math.ceil((burst * per) / limit);
}

function lastUse({ uses }: KnownUses, slot: number): Bounds {
  return uses.get(slot) ?? { from: Number.NEGATIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
}

/** Adds a use by this client. @param to  when it was answered; `Infinity` while it is under way */
export function withUse({ uses, clockOffset }: KnownUses, slot: number, from: number, to: number): KnownUses {
  return { uses: new Map([...uses, [slot, { from, to }]]), clockOffset };
}

/** Forgets a use that the rules have refused: a read tells who has used the slot. */
export function withoutUse({ uses, clockOffset }: KnownUses, slot: number): KnownUses {
  return { uses: new Map([...uses].filter(([n]) => n !== slot)), clockOffset };
}

/**
 * What the client knows after a read of its limit document.
 *
 * The server's clock shows at least the latest time that was read. A use by this client that is younger than
 * its rest is the last one of its slot, so its server time lies between the client's times of sending and answer.
 *
 * @param times     slot → server time of its last use
 * @param sent      when the read was sent, by the client's clock
 * @param received  when it was answered
 */
export function learnUses(
  { uses, clockOffset }: KnownUses,
  times: ReadonlyMap<number, number>,
  limit: RateLimit,
  sent: number,
  received: number,
): KnownUses {
  let { from, to } = clockOffset;
  const learned = new Map<number, Bounds>();
  // The read may have missed uses that were answered after it was sent.
  for (const [slot, use] of uses) if (use.to >= sent) learned.set(slot, use);
  for (const [slot, time] of times) {
    from = Math.max(from, time - received);
    const own = uses.get(slot);
    if (!own || learned.has(slot) || own.from + reuseDelay(limit) <= received) continue;
    from = Math.max(from, time - own.to);
    to = Math.min(to, time - own.from);
  }
  // The last use of a slot is as late as the one read, and as the one that the read may have missed.
  for (const [slot, time] of times) {
    const kept = learned.get(slot) ?? { from: time - to, to: time - from };
    learned.set(slot, { from: Math.max(kept.from, time - to), to: Math.max(kept.to, time - from) });
  }
  return { uses: learned, clockOffset: { from, to } };
}

/** @throws CounterError `counter/invalid-option` */
export function validLimit(rate: RateLimit): void {
  const { name, uid, limit, per, burst } = Object(rate) as RateLimit;
  if (!isDocumentId(name) || !isDocumentId(uid)) {
    throw new CounterError(
      "counter/invalid-option",
      `the rate limit has name "${String(name)}" and uid "${String(uid)}"; pass document ids, without /`,
    );
  }
  const areWhole = [limit, per, burst].every((value) => Number.isSafeInteger(value) && value >= 1);
  if (!areWhole || burst > 100 || reuseDelay(rate) > 86_400_000) {
    throw new CounterError(
      "counter/invalid-option",
      `the rate limit "${name}" has limit ${limit}, per ${per} and burst ${burst}; pass whole numbers from 1, with burst 100 at most, and burst × per / limit a day at most`,
    );
  }
}
