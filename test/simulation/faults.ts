/**
 * What goes wrong, how often. Each kind can be switched off, which changes nothing else of a run: whatever is asked, the
 * same number of random numbers is drawn.
 */
import type { Micros } from "./model/values.ts";
import type { Process } from "./scheduler.ts";

export const FAULTS = [
  "slow calls",
  "lost calls",
  "lost answers",
  "calls sent twice",
  "calls that land late",
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

/** What becomes of one call to the database. */
export interface Fate {
  readonly fate: "answered" | "lost" | "answer lost" | "sent twice" | "lands late" | "aborted";
  /** How long until it arrives, until its answer does, and until it is sent again, or lands after all. */
  readonly there: Micros;
  readonly back: Micros;
  readonly again: Micros;
}

const MS = 1_000;
const SECOND = 1_000 * MS;

export class Faults {
  /** Off while the simulation comes to rest. */
  isOn = true;
  /** How often each kind has struck. */
  readonly injected: Partial<Record<Fault, number>> = {};
  readonly #kinds: ReadonlySet<Fault>;
  readonly #rate: number;
  readonly #latency: Micros;

  /**
   * @param rate     the share of calls with which something goes wrong
   * @param latency  how long a call takes each way, mostly
   */
  constructor(kinds: readonly Fault[], rate: number, latency: Micros) {
    this.#kinds = new Set(kinds);
    this.#rate = rate;
    this.#latency = latency;
  }

  /** Whether a fault of this kind happens, given that it would. */
  has(kind: Fault): boolean {
    const strikes = this.isOn && this.#kinds.has(kind);
    if (strikes) this.injected[kind] = (this.injected[kind] ?? 0) + 1;
    return strikes;
  }

  ofCall({ random }: Process): Fate {
    const [roll, kind, slow, there, back, again] = [1, 2, 3, 4, 5, 6].map(() => random.next()) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    // Now and then a second, rarely a minute.
    const scale = slow < 0.01 ? 60 * SECOND : slow < 0.1 ? SECOND : this.#latency;
    const usual = slow < 0.1 && this.has("slow calls") ? scale : Math.min(scale, this.#latency);
    const fates = [
      ["lost", "lost calls"],
      ["answer lost", "lost answers"],
      ["sent twice", "calls sent twice"],
      ["lands late", "calls that land late"],
      ["aborted", "aborted calls"],
    ] as const;
    const [fate, needs] = fates[Math.floor(kind * fates.length)] as (typeof fates)[number];
    return {
      fate: roll < this.#rate && this.has(needs) ? fate : "answered",
      there: 1 * MS + there * usual,
      back: 1 * MS + back * usual,
      // Once a connection is back, or a deadline has passed.
      again: 100 * MS * 600 ** again,
    };
  }

  /** Whether something happens, of those that happen now and then. */
  strikes(kind: Fault, { random }: Process, share = this.#rate): boolean {
    return random.chance(share) && this.has(kind);
  }
}
