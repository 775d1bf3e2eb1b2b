/**
 * The connections of clients: the share of them that is slow, cold, jittery or lossy, as the settings say, each independent of the others.
 * An ordinary connection is so fast that a request arrives at once, and `ackLatency` passes before its answer.
 */
import type { Random } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import type { Settings } from "./settings.ts";

/** How long a lost message waits for its retransmission; each further time twice as long (RFC 6298, section 2.1). */
const RETRANSMITTED_AFTER: Millis = 1_000;

/** How much longer the longest round trip of a jittery connection takes than the shortest. */
const MOST_JITTER = 5;

/** How long a request takes to the server, and its answer back. */
export interface Delays {
  readonly request: Millis;
  readonly response: Millis;
}

export class Connection {
  readonly #settings: Settings;
  readonly #random: Random;
  readonly #isOrdinary: boolean;
  readonly #roundTrip: Millis;
  readonly #isJittery: boolean;
  readonly #isLossy: boolean;
  /** Whether the first read and the first write still need a round trip more: for TLS or a preflight. */
  readonly #isCold: Record<"read" | "write", boolean>;

  constructor(settings: Settings, random: Random) {
    const is = (share: number) => share > 0 && random() < share;
    this.#settings = settings;
    this.#random = random;
    const isSlow = is(settings.slow);
    this.#roundTrip = isSlow ? settings.roundTrip : settings.ackLatency;
    this.#isJittery = is(settings.jittery);
    this.#isLossy = is(settings.lossy);
    const isCold = is(settings.cold);
    this.#isCold = { read: isCold, write: isCold };
    this.#isOrdinary = !(isSlow || isCold || this.#isJittery || this.#isLossy);
  }

  /** The delays of the next request. */
  delays(kind: "read" | "write"): Delays {
    if (this.#isOrdinary) return { request: 0, response: this.#roundTrip };
    const trips = this.#isCold[kind] ? 2 : 1;
    this.#isCold[kind] = false;
    const jitter = this.#isJittery ? 1 + (MOST_JITTER - 1) * this.#random() ** 2 : 1;
    const duration = this.#roundTrip * jitter;
    return {
      request: (trips - 0.5) * duration + this.#retransmissions(),
      response: 0.5 * duration + this.#retransmissions(),
    };
  }

  /** How much later one way ends because packets are lost. */
  #retransmissions(): Millis {
    let later = 0;
    if (!this.#isLossy) return later;
    for (let wait = RETRANSMITTED_AFTER; this.#random() < this.#settings.loss; wait *= 2) later += wait;
    return later;
  }
}
