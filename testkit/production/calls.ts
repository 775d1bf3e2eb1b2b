/**
 * What happens to a call on its way to the database and back: it takes its time, is lost, loses its answer, is sent twice, arrives
 * after its caller has given up, or is aborted. Each happens in production; how often is the caller's choice.
 */
import type { Random } from "../../core/testing/random.ts";
import type { Millis } from "../statistics.ts";

/** Each way, if nothing is wrong. Assumptions: clients are some hundred kilometres away, functions in the database's region. */
export const CALL_LATENCY = { clients: 25, functions: 2 } as const satisfies Record<string, Millis>;

/** From a read or write of the functions to its answer, with the work of the server. Assumption. */
export const BACKEND_LATENCY: Millis = 30;

/** Bad connections: the share of calls that takes up to so long each way. Assumptions. */
const SLOWEST = { share: 0.01, longest: 60_000 } as const;
const SLOW = { share: 0.1, longest: 1_000 } as const;

/** When a call that was sent twice is sent again, or one that is late arrives. Assumptions. */
const RETRY = { shortest: 100, longest: 60_000 } as const;

export type CallFault =
  | "slow calls"
  | "lost calls"
  | "lost answers"
  | "calls sent twice"
  | "calls that arrive late"
  | "aborted calls";

export interface CallOutcome {
  readonly kind: "answered" | "lost" | "answer lost" | "sent twice" | "arrives late" | "aborted";
  readonly requestDelay: Millis;
  readonly responseDelay: Millis;
  /** The delay of the second attempt, or of a late arrival. */
  readonly retryDelay: Millis;
}

const FAULTY_OUTCOMES = [
  ["lost", "lost calls"],
  ["answer lost", "lost answers"],
  ["sent twice", "calls sent twice"],
  ["arrives late", "calls that arrive late"],
  ["aborted", "aborted calls"],
] as const;

/**
 * @param share    of the calls that get a fault other than slowness
 * @param latency  how long most calls take each way at most
 * @param inject   whether a fault that is due strikes
 */
export function callOutcome(
  random: Random,
  share: number,
  latency: Millis,
  inject: (fault: CallFault) => boolean,
): CallOutcome {
  const roll = random.next();
  const which = random.next();
  const slow = random.next();
  const request = random.next();
  const response = random.next();
  const retry = random.next();
  const longest = [SLOWEST, SLOW].find((one) => slow < one.share)?.longest;
  const usual = longest === undefined || inject("slow calls") ? (longest ?? latency) : Math.min(longest, latency);
  const [kind, fault] = FAULTY_OUTCOMES[Math.floor(which * FAULTY_OUTCOMES.length)] as (typeof FAULTY_OUTCOMES)[number];
  return {
    kind: roll < share && inject(fault) ? kind : "answered",
    requestDelay: 1 + request * usual,
    responseDelay: 1 + response * usual,
    retryDelay: RETRY.shortest * (RETRY.longest / RETRY.shortest) ** retry,
  };
}
