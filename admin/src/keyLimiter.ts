/**
 * What a process knows of one key of a rate limit, and how it answers calls: from a lease; by a refusal while the last look at
 * the document has shown that nothing is free; else by the document.
 *
 * The process looks at the document once at a time. Calls made meanwhile wait, and share the next look. The process's clock
 * measures durations alone: a lease begins before the server's time of its grant, so it ends before the server counts on that.
 */
import type { DocumentReference } from "firebase-admin/firestore";
import { type Demand, leaseSize, pauseAfter, recordCall } from "./demand.ts";
import { type Limit, waitFor } from "./leaseDecision.ts";
import { grant } from "./limitDocument.ts";

/** The answer to a `take` of a rate limiter. */
export type RateLimitResult =
  | {
      /** The uses are taken. */
      allowed: true;
    }
  | {
      /** Nothing is taken. */
      allowed: false;
      /** In how many milliseconds to try again, at least 1. It succeeds then unless other calls were first. */
      retryAfter: number;
    };

/** Part of a lease's life is left for the difference between the clocks' speeds, 0.05 % at most. */
const CLOCK_MARGIN = 0.001;

/** How much too early a timer may fire. */
const TIMER_MARGIN_MS = 1;

/** A call that waits for the document. */
interface Call {
  readonly n: number;
  readonly resolve: (result: RateLimitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What a process knows of one key. Times are those of `performance.now()`. */
export interface KeyState {
  readonly document: DocumentReference;
  demand: Demand | undefined;
  /** Uses to hand out, each part until its end. */
  leases: { left: number; readonly end: number }[];
  /** When the whole burst is free again, at the earliest. */
  tat: number;
  /** Until then the document is not read again. */
  pausedUntil: number;
  waiting: Call[];
  isAsking: boolean;
}

export function newState(document: DocumentReference): KeyState {
  const never = Number.NEGATIVE_INFINITY;
  return { document, demand: undefined, leases: [], tat: never, pausedUntil: never, waiting: [], isAsking: false };
}

/** Takes uses. The arguments are valid. */
export function takeUses(state: KeyState, n: number, limit: Limit): RateLimitResult | Promise<RateLimitResult> {
  state.demand = recordCall(state.demand, n, performance.now());
  const answer = state.isAsking ? undefined : answerLocally(state, n, limit);
  if (answer) return answer;
  return new Promise((resolve, reject) => {
    state.waiting.push({ n, resolve, reject });
    if (!state.isAsking) void answerWaiting(state, limit);
  });
}

/** Answers the waiting calls in their order, with as few looks at the document as possible. Never rejects. */
async function answerWaiting(state: KeyState, limit: Limit): Promise<void> {
  state.isAsking = true;
  // Calls of the same turn of the event loop share the first look.
  await undefined;
  while (state.waiting.length > 0) {
    const calls = state.waiting;
    state.waiting = [];
    let answered = 0;
    for (const { n, resolve } of calls) {
      const answer = answerLocally(state, n, limit);
      if (!answer) break;
      resolve(answer);
      answered++;
    }
    if (answered < calls.length) await ask(state, calls.slice(answered), limit);
  }
  state.isAsking = false;
}

/** Answers from a lease, or refuses while nothing can be free; undefined if only the document can tell. */
function answerLocally(state: KeyState, n: number, limit: Limit): RateLimitResult | undefined {
  const now = performance.now();
  state.leases = state.leases.filter(({ left, end }) => left > 0 && now < end);
  if (state.leases.reduce((sum, { left }) => sum + left, 0) >= n) {
    let missing = n;
    for (const lease of state.leases) {
      const used = Math.min(lease.left, missing);
      lease.left -= used;
      missing -= used;
    }
    return { allowed: true };
  }
  const free = Math.max(state.pausedUntil, now + waitFor(n, state.tat * 1_000, now * 1_000, limit) / 1_000);
  return now < free ? refusal(free - now) : undefined;
}

function refusal(wait: number): RateLimitResult {
  return { allowed: false, retryAfter: Math.max(0, Math.ceil(wait)) + TIMER_MARGIN_MS };
}

/** Decides on calls together, and leases what the process will probably need next. */
async function ask(state: KeyState, calls: readonly Call[], limit: Limit): Promise<void> {
  const amounts = calls.map(({ n }) => n);
  const life = (limit.leaseLife / 1_000) * (1 - CLOCK_MARGIN);
  const asked = performance.now();
  const demand = state.demand as Demand;
  const waiting = amounts.reduce((sum, n) => sum + n, 0);
  const lease = leaseSize(demand, waiting, asked, life);
  try {
    const { began, now, allowed, leased, tat } = await grant(state.document, amounts, lease, limit);
    const answered = performance.now();
    if (leased > 0) state.leases.push({ left: leased, end: began + life });
    state.tat = answered + (tat - now) / 1_000;
    if (leased < lease / 2) {
      state.pausedUntil = answered + pauseAfter(demand, answered, answered - asked, life, Math.random());
    }
    for (const [i, { n, resolve }] of calls.entries()) {
      const wait = Math.max(waitFor(n, tat, now, limit) / 1_000, state.pausedUntil - answered);
      resolve(allowed[i] ? { allowed: true } : refusal(wait));
    }
  } catch (error) {
    for (const { reject } of calls) reject(error);
  }
}
