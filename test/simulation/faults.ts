/**
 * The kinds of faults, and when each is injected. A decision draws its random numbers whether its kind is enabled or not, so
 * that disabling a kind changes little else in a run.
 */
import { type CallOutcome, callOutcome } from "../../testkit/production/calls.ts";
import type { Micros } from "./model/values.ts";
import type { Process } from "./scheduler.ts";

export const FAULTS = [
  "slow calls",
  "lost calls",
  "lost answers",
  "calls sent twice",
  "calls that arrive late",
  "aborted calls",
  "crashes",
  "freezes",
  "clock skew",
  "wrong device clocks",
  "duplicate events",
  "late events",
  "events lost for hours",
  "late tasks",
  "failed scheduling",
  "cut connections",
  "slow commits",
] as const;
export type Fault = (typeof FAULTS)[number];

const MS = 1_000;
const SECOND = 1_000 * MS;

/** Commits are slow for this long, then normal for as long, and so on. */
const SLOW_PERIOD = 120 * SECOND;

export class Faults {
  /** Faults are disabled when the traffic has ended and late deliveries arrive. */
  isEnabled = true;
  /** How often each kind was injected. */
  readonly injected: Partial<Record<Fault, number>> = {};
  readonly #kinds: ReadonlySet<Fault>;
  readonly rate: number;
  readonly #latency: Micros;

  /**
   * @param rate     the share of calls that get a fault
   * @param latency  how long most calls take each way
   */
  constructor(kinds: readonly Fault[], rate: number, latency: Micros) {
    this.#kinds = new Set(kinds);
    this.rate = rate;
    this.#latency = latency;
  }

  /** Injects a fault if its kind is enabled. @returns whether it was */
  readonly inject = (kind: Fault): boolean => {
    const isInjected = this.isEnabled && this.#kinds.has(kind);
    if (isInjected) this.injected[kind] = (this.injected[kind] ?? 0) + 1;
    return isInjected;
  };

  /** Injects a fault with a probability. @returns whether it was */
  injectByChance(kind: Fault, { random }: Process, probability = this.rate): boolean {
    return random.chance(probability) && this.inject(kind);
  }

  /**
   * How much longer than others a commit takes that is sent now: two to ten seconds while the whole database is slow. It is derived
   * from the time instead of a random number, so that other faults stay as they are.
   */
  commitDelay(now: Micros): Micros {
    const isSlow = Math.floor(now / SLOW_PERIOD) % 2 === 1;
    return isSlow && this.inject("slow commits") ? 2 * SECOND + ((7_919 * now) % (8 * SECOND)) : 0;
  }

  /** @returns the model's outcome, with delays in microseconds */
  callOutcome({ random }: Process): CallOutcome {
    const outcome = callOutcome(random, this.rate, this.#latency / MS, this.inject);
    const { requestDelay, responseDelay, retryDelay } = outcome;
    return {
      kind: outcome.kind,
      requestDelay: requestDelay * MS,
      responseDelay: responseDelay * MS,
      retryDelay: retryDelay * MS,
    };
  }
}
