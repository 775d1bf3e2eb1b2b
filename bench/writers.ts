/**
 * Clients that increment, in a process of their own (`writersProcess.ts`), so that the governor and the meters share no thread
 * with them.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Millis, Sample } from "../testkit/statistics.ts";
import type { WRITES } from "./approaches.ts";

export interface Assignment {
  readonly approach: keyof typeof WRITES;
  /** Ids of the counters, which take turns. */
  readonly ids: readonly string[];
  /** Firestore's addresses, `host:port`, which the clients take in turns. */
  readonly addresses: readonly string[];
  readonly project: string;
  /** Clients at the start, and at most. */
  readonly clients: number;
  readonly maxClients: number;
  /** Whether clients connect only when they increment, and increment strictly in turns. */
  readonly areCold?: boolean;
  /** Whether clients watch the first counter from the start. */
  readonly areWatching?: boolean;
  /** When each increment is due, in milliseconds from the start. */
  readonly dueTimes: readonly Millis[];
}

export interface Outcome {
  readonly samples: readonly Sample[];
  /** How late each call was made: what the machine could not do. */
  readonly lateness: readonly Millis[];
  /** Rejections by code. */
  readonly errors: Readonly<Record<string, number>>;
}

/** A number is the instant to start at. */
export type Order = Assignment | Millis | "pending" | "stop";

/** Milliseconds since the epoch, the same in all processes and finer than `Date.now()`. */
export function epochNow(): Millis {
  return performance.timeOrigin + performance.now();
}

/** Includes the start of thousands of clients. */
const ANSWER_TIMEOUT: Millis = 300_000;

export class Writers {
  readonly #process: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#ended = once(process, "exit").then(([code]) => {
      throw new Error(`the writers' process ended with ${code}`);
    });
    // It may end while no answer is awaited.
    this.#ended.catch(() => undefined);
  }

  /** Resolves when the clients are ready. */
  static async start(assignment: Assignment): Promise<Writers> {
    const path = fileURLToPath(new URL("writersProcess.ts", import.meta.url));
    const writers = new Writers(fork(path, { serialization: "advanced" }));
    await writers.#ask<"ready">(assignment);
    return writers;
  }

  begin(at: Millis): void {
    this.#process.send(at);
  }

  /** How many increments are neither acknowledged nor rejected yet. */
  async pending(): Promise<number> {
    return await this.#ask("pending");
  }

  /** Ends the process. Pending increments are abandoned. */
  async stop(): Promise<Outcome> {
    const exited = once(this.#process, "exit");
    const outcome = await this.#ask<Outcome>("stop");
    await exited;
    return outcome;
  }

  async #ask<Answer>(order: Order): Promise<Answer> {
    this.#process.send(order);
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT);
    try {
      const [answer] = await Promise.race([once(this.#process, "message", { signal: timeout }), this.#ended]);
      return answer;
    } catch (error) {
      this.#process.kill("SIGKILL");
      throw timeout.aborted ? new Error(`the writers have not answered for ${ANSWER_TIMEOUT / 1_000} s`) : error;
    }
  }
}
