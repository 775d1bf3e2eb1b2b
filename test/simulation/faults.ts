/**
 * The kinds of faults, and when each is injected. A decision draws its random numbers whether its kind is enabled or not, so
 * that disabling a kind changes little else in a run.
 */
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
  "duplicate events",
  "late events",
  "events lost for hours",
  "late tasks",
  "failed scheduling",
  "cut connections",
] as const;
export type Fault = (typeof FAULTS)[number];

/** The outcome of one call to the database. */
export interface CallOutcome {
  readonly kind: "answered" | "lost" | "answer lost" | "sent twice" | "arrives late" | "aborted";
  readonly requestDelay: Micros;
  readonly responseDelay: Micros;
  /** The delay of the second attempt, or of a late arrival. */
  readonly retryDelay: Micros;
}

const FAULTY_OUTCOMES = [
  ["lost", "lost calls"],
  ["answer lost", "lost answers"],
  ["sent twice", "calls sent twice"],
  ["arrives late", "calls that arrive late"],
  ["aborted", "aborted calls"],
] as const;
type FaultyOutcome = (typeof FAULTY_OUTCOMES)[number];

const MS = 1_000;
const SECOND = 1_000 * MS;

export class Faults {
  /** Faults are disabled when the traffic has ended and late deliveries arrive. */
  isEnabled = true;
  /** How often each kind was injected. */
  readonly injected: Partial<Record<Fault, number>> = {};
  readonly #kinds: ReadonlySet<Fault>;
  readonly #rate: number;
  readonly #latency: Micros;

  /**
   * @param rate     the share of calls that get a fault
   * @param latency  how long most calls take each way
   */
  constructor(kinds: readonly Fault[], rate: number, latency: Micros) {
    this.#kinds = new Set(kinds);
    this.#rate = rate;
    this.#latency = latency;
  }

  /** Injects a fault if its kind is enabled. @returns whether it was */
  inject(kind: Fault): boolean {
    const isInjected = this.isEnabled && this.#kinds.has(kind);
    if (isInjected) this.injected[kind] = (this.injected[kind] ?? 0) + 1;
    return isInjected;
  }

  /** Injects a fault with a probability. @returns whether it was */
  injectByChance(kind: Fault, { random }: Process, probability = this.#rate): boolean {
    return random.chance(probability) && this.inject(kind);
  }

  callOutcome({ random }: Process): CallOutcome {
    const roll = random.next();
    const kind = random.next();
    const slow = random.next();
    const request = random.next();
    const response = random.next();
    const retry = random.next();
    // A tenth of the calls takes up to a second, a hundredth up to a minute.
    const scale = slow < 0.01 ? 60 * SECOND : slow < 0.1 ? SECOND : this.#latency;
    const usual = slow < 0.1 && this.inject("slow calls") ? scale : Math.min(scale, this.#latency);
    const [outcome, fault] = FAULTY_OUTCOMES[Math.floor(kind * FAULTY_OUTCOMES.length)] as FaultyOutcome;
    return {
      kind: roll < this.#rate && this.inject(fault) ? outcome : "answered",
      requestDelay: 1 * MS + request * usual,
      responseDelay: 1 * MS + response * usual,
      // From 100 ms to a minute.
      retryDelay: 100 * MS * 600 ** retry,
    };
  }
}
