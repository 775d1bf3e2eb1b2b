/**
 * What a client knows of the server's time. The device's clock may be wrong by days, so it decides only what no server time that
 * the client has seen can tell.
 *
 * Between two readings the device's monotonic clock counts. It may stand still while the device sleeps: then the server's time is
 * later than it says, and never earlier.
 */

/** A change of the wall clock against the monotonic one by more than this is a sleep, or a user who sets the clock. */
const MAX_DRIFT_MS = 1_000;

/** How near to an instant the server's time must be found out. */
const PRECISION_MS = 60_000;

/** The server's time, between two bounds. All instants are milliseconds since the epoch. Synchronous, no I/O. */
export class ServerClock {
  /** The least and the most by which the server's clock may be ahead of the monotonic one. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #wallClockAhead = 0;

  /** The device's time, moved into the bounds. */
  _now(): number {
    this.#noticeSleep();
    return performance.now() + Math.min(Math.max(this.#wallClockAhead, this.#least), this.#most);
  }

  /** The server's time is this instant now, or later: a document has it. Nothing for NaN. */
  _isAtLeast(instant: number): void {
    const ahead = instant - performance.now();
    if (ahead > this.#least) this.#least = ahead;
  }

  /** The server's time was before this instant when the monotonic clock showed `shown`, if the device has not slept since. */
  _wasBefore(instant: number, shown: number): void {
    if (!this.#noticeSleep()) this.#most = Math.min(this.#most, instant - shown);
  }

  /**
   * The instant of which the server should say whether it is past, so that this is known for all of these; `undefined` if it is.
   * Where the device's clock is right, the answer to the first question is enough until the next of these instants.
   */
  _questionAbout(instants: readonly number[]): number | undefined {
    this.#noticeSleep();
    const [from, to] = [this.#least, this.#most].map((ahead) => performance.now() + ahead) as [number, number];
    const next = Math.min(...instants.filter((instant) => instant > from));
    if (next === Number.POSITIVE_INFINITY || to < next) return undefined;
    const guess = (Math.ceil(Date.now() / PRECISION_MS) + 1) * PRECISION_MS;
    if (guess > from && guess < Math.min(next, to)) return guess;
    if (to > next + PRECISION_MS) return next;
    return next - from < PRECISION_MS ? undefined : Math.floor((from + next) / 2);
  }

  /** After a sleep the server's time is later than the monotonic clock says. @returns whether there was one */
  #noticeSleep(): boolean {
    const ahead = Date.now() - performance.now();
    const hasSlept = Math.abs(ahead - this.#wallClockAhead) > MAX_DRIFT_MS;
    if (hasSlept) this.#most = Number.POSITIVE_INFINITY;
    this.#wallClockAhead = ahead;
    return hasSlept;
  }
}
