/**
 * Virtual time for the functions' code in a test's process, against the real emulator. Results depend on the code's timers, not on
 * the speed of the machine.
 *
 * When no call of Firestore is pending, the clock jumps to the next timer; between jumps a real second is a virtual
 * millisecond. A proxy inspection translates Firestore's timestamps to virtual time in responses, and back in requests. The
 * order of instants is preserved; but what the code computes itself is stored as virtual, so a query must not compare both.
 */
import { setTimeout as realSleep } from "node:timers/promises";
import { Timestamp } from "firebase-admin/firestore";
import type { Message } from "./firestoreMessages.ts";
import type { Inspection } from "./grpcProxy.ts";
import type { Millis } from "./statistics.ts";

/** A timestamp of a message. */
interface Instant {
  readonly seconds: number | string | { toString(): string };
  readonly nanos: number;
}

/** Virtual time begins in 2001, so an instant's value tells whether it is real or virtual. */
const BEGINNING: Millis = 1e12;
const isReal = ({ seconds }: Instant) => Number(seconds) > 1.5e9;

/**
 * After so many turns of the event loop without a call of Firestore, the code is taken to wait for a timer. The turns also
 * last longer than the emulator's snapshots lag behind its commits, so a read after a jump sees every commit before it.
 */
const QUIET_TURNS = 12;
const TURN: Millis = 5;

export class VirtualClock {
  /** When the clock jumped: real microseconds since `#start`, and virtual nanoseconds since `BEGINNING`. */
  readonly #jumps: { real: number; virtual: number }[] = [{ real: 0, virtual: 0 }];
  readonly #start = Math.floor(Date.now() / 1_000);
  readonly #timers: { at: Millis; wake: () => void }[] = [];
  /** Real instants by the virtual ones they were translated to. */
  readonly #translated = new Map<string, Instant>();
  #underWay = 0;
  #begun = 0;

  /** For a proxy between the code and the emulator. */
  readonly inspection: Inspection = () => {
    this.#underWay++;
    this.#begun++;
    return {
      request: (message) =>
        this.#translate(message, (value) => (isReal(value) ? undefined : this.#translated.get(key(value)))),
      response: (message) => this.#translate(message, (value) => (isReal(value) ? this.#toVirtual(value) : undefined)),
      end: () => void this.#underWay--,
    };
  };

  now = (): Millis => this.toMillis(Timestamp.fromMillis(Date.now()));

  sleep = (duration: Millis): Promise<void> =>
    duration > 0
      ? new Promise((wake) => void this.#timers.push({ at: this.now() + duration, wake }))
      : Promise.resolve();

  /** The virtual instant of a timestamp that came past the proxy. */
  toMillis({ seconds, nanoseconds }: Timestamp): Millis {
    const virtual = this.#toVirtual({ seconds, nanos: nanoseconds });
    return virtual.seconds * 1_000 + virtual.nanos / 1e6;
  }

  /** Advances the clock until some work is done. */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    work.then(done, done);
    for (;;) {
      await this.#quiet();
      if (isDone) return await work;
      const next = this.#nextTimer();
      if (next === undefined) throw new Error("the work waits for neither Firestore nor a timer");
      this.#jump(next);
    }
  }

  /** Advances the clock by a duration and runs the timers that come due. */
  async advance(duration: Millis): Promise<void> {
    const end = this.now() + duration;
    await this.#quiet();
    for (let next = this.#nextTimer(); next !== undefined && next <= end; next = this.#nextTimer()) {
      this.#jump(next);
      await this.#quiet();
    }
    this.#jump(end);
  }

  async #quiet(): Promise<void> {
    for (let [turns, begun] = [0, this.#begun]; turns < QUIET_TURNS; turns++) {
      await realSleep(TURN);
      if (this.#underWay > 0 || this.#begun !== begun) [turns, begun] = [0, this.#begun];
    }
  }

  #nextTimer(): Millis | undefined {
    return this.#timers.sort((a, b) => a.at - b.at)[0]?.at;
  }

  #jump(to: Millis): void {
    if (to > this.now()) {
      const real = Date.now() * 1_000 - this.#start * 1e6;
      this.#jumps.push({ real, virtual: Math.ceil((to - BEGINNING) * 1e6) });
    }
    while (this.#timers[0] && this.#timers[0].at <= this.now()) this.#timers.shift()?.wake();
  }

  #toVirtual({ seconds, nanos }: Instant): { seconds: number; nanos: number } {
    const real = (Number(seconds) - this.#start) * 1e6 + Math.floor(nanos / 1_000);
    const jump = this.#jumps.findLast((one) => one.real <= real) ?? { real: 0, virtual: 0 };
    // A microsecond becomes a nanosecond, so different instants stay different.
    const virtual = jump.virtual + (real - jump.real);
    const instant = {
      seconds: BEGINNING / 1_000 + Math.floor(virtual / 1e9),
      nanos: virtual - Math.floor(virtual / 1e9) * 1e9,
    };
    this.#translated.set(key(instant), { seconds, nanos });
    return instant;
  }

  #translate(message: Message, translated: (value: Instant) => Instant | undefined): void {
    let hasChanged = false;
    const walk = (value: unknown): void => {
      if (value === null || typeof value !== "object" || value instanceof Uint8Array) return;
      for (const [field, inner] of Object.entries(value)) {
        const other = isInstant(inner) ? translated(inner) : undefined;
        if (other) Object.assign(value, { [field]: other });
        else if (!isInstant(inner)) walk(inner);
        hasChanged ||= other !== undefined;
      }
    };
    const content = message.as<object>();
    walk(content);
    if (hasChanged) message.rewrite(content);
  }
}

function isInstant(value: unknown): value is Instant {
  return value !== null && typeof value === "object" && "seconds" in value && "nanos" in value;
}

function key({ seconds, nanos }: Instant): string {
  return `${seconds}.${nanos}`;
}
