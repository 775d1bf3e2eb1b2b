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

/** The two ways of a request. */
export interface Trip {
  readonly there: Millis;
  readonly back: Millis;
}

export class Connection {
  readonly #settings: Settings;
  readonly #random: Random;
  readonly #roundTrip: Millis;
  readonly #isJittery: boolean;
  readonly #isLossy: boolean;
  /** Whether the first read and the first write still need a round trip more: for TLS or a preflight. */
  readonly #isCold: Record<"read" | "write", boolean>;

  constructor(settings: Settings, random: Random) {
    const is = (share: number) => share > 0 && random() < share;
    this.#settings = settings;
    this.#random = random;
    this.#roundTrip = is(settings.slow) ? settings.roundTrip : settings.ackLatency;
    this.#isJittery = is(settings.jittery);
    this.#isLossy = is(settings.lossy);
    const isCold = is(settings.cold);
    this.#isCold = { read: isCold, write: isCold };
  }

  request(kind: "read" | "write"): Trip {
    const { ackLatency } = this.#settings;
    const trips = this.#isCold[kind] ? 2 : 1;
    this.#isCold[kind] = false;
    const jitter = this.#isJittery ? 1 + (MOST_JITTER - 1) * this.#random() ** 2 : 1;
    const duration = this.#roundTrip * jitter;
    const [lostThere, lostBack] = [this.#retransmissions(), this.#retransmissions()];
    if (trips * duration + lostThere + lostBack === ackLatency) return { there: 0, back: ackLatency };
    return { there: (trips - 0.5) * duration + lostThere, back: 0.5 * duration + lostBack };
  }

  /** How much later one way ends because packets are lost. */
  #retransmissions(): Millis {
    let later = 0;
    if (!this.#isLossy) return later;
    for (let wait = RETRANSMITTED_AFTER; this.#random() < this.#settings.loss; wait *= 2) later += wait;
    return later;
  }
}
