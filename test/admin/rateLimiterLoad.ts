/** Servers that call a rate limiter, each in a process of its own, and what their calls say about the limit. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { RateLimitOptions } from "firestore-tally/admin";

export interface Order {
  readonly key: string;
  readonly options: RateLimitOptions;
  /** Calls per second, at random. */
  readonly perSecond: number;
  /** By {@link now}. */
  readonly from: number;
  readonly until: number;
}

/** Its start, its end, and `retryAfter`, or 0 if it was allowed. */
export type Call = readonly [start: number, end: number, retryAfter: number];

export interface Outcome {
  readonly calls: readonly Call[];
  /** Transactions that wrote. */
  readonly commits: number;
}

/** Milliseconds of the clock that all processes of a machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class Servers {
  readonly #processes: readonly ChildProcess[];

  private constructor(processes: readonly ChildProcess[]) {
    this.#processes = processes;
  }

  static async start(count: number): Promise<Servers> {
    const file = new URL("rateLimiterProcess.ts", import.meta.url);
    const processes = Array.from({ length: count }, () => fork(file, { serialization: "advanced" }));
    await Promise.all(processes.map((one) => once(one, "message")));
    return new Servers(processes);
  }

  /** Lets the first `count` of them call at the same time, `perSecond` in all. */
  async call(count: number, key: string, options: RateLimitOptions, perSecond: number, forMs: number) {
    const from = now() + 200;
    const order: Order = { key, options, perSecond: perSecond / count, from, until: from + forMs };
    const outcomes = await Promise.all(
      this.#processes.slice(0, count).map(async (one): Promise<Outcome> => {
        one.send(order);
        const [outcome] = await once(one, "message");
        return outcome;
      }),
    );
    const allowedOf = ({ calls }: Pick<Outcome, "calls">) => calls.filter(([, , retryAfter]) => retryAfter === 0);
    const calls = outcomes.flatMap((outcome) => outcome.calls);
    return {
      from,
      calls,
      allowed: allowedOf({ calls }),
      refused: calls.filter(([, , retryAfter]) => retryAfter > 0),
      /** Uses of each process. */
      shares: outcomes.map((outcome) => allowedOf(outcome).length),
      commits: outcomes.reduce((sum, { commits }) => sum + commits, 0),
    };
  }

  async stop(): Promise<void> {
    const ended = Promise.all(this.#processes.map((one) => once(one, "exit")));
    for (const one of this.#processes) one.kill();
    await ended;
  }
}

/**
 * By how many uses the fullest window is beyond the rate alone: the limit permits `burst`. A use is somewhere between its call's
 * start and end, so a window certainly has those alone whose calls are within it.
 */
export function largestBurst(allowed: readonly Call[], { limit, per }: RateLimitOptions): number {
  const byEnd = [...allowed].sort((a, b) => a[1] - b[1]);
  let most = 0;
  for (const [begin] of allowed) {
    let within = 0;
    for (const [start, end] of byEnd) {
      if (start < begin) continue;
      within++;
      most = Math.max(most, within - ((end - begin) * limit) / per);
    }
  }
  return most;
}
