/**
 * Clients that increment, in a process of their own (`writersProcess.ts`): whoever governs and meters shares no thread
 * with them. They are started, told when to begin, asked how many are left, and stopped.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Millis, Sample } from "../testkit/statistics.ts";
import type { WRITES } from "./contenders.ts";

/** What a process of writers is to do. */
export interface Assignment {
  readonly contender: keyof typeof WRITES;
  /** Of the counters, which take turns. */
  readonly ids: readonly string[];
  /** Where Firestore is, in turns; and the project. */
  readonly addresses: readonly string[];
  readonly project: string;
  /** How many clients there are at first, and how many there may be when many are waiting. */
  readonly clients: number;
  readonly mostClients: number;
  /** Whether the clients only connect when they increment, and do so strictly in turns. */
  readonly areCold?: boolean;
  /** When each increment is to be made, after the beginning. */
  readonly arrivals: readonly Millis[];
}

/** What became of the increments. */
export interface Outcome {
  readonly samples: readonly Sample[];
  /** How late each call was made: what the machine could not do, and no contender is to blame for. */
  readonly lateness: readonly Millis[];
  /** Codes of rejections, and how many there were. */
  readonly errors: Readonly<Record<string, number>>;
  /** How many there were in the end. */
  readonly clients: number;
}

/** A number is an instant to begin at. */
export type Order = Assignment | Millis | "pending" | "stop";

/** The same in all processes: milliseconds since the epoch, finer than those of `Date.now`. */
export function epochNow(): Millis {
  return performance.timeOrigin + performance.now();
}

/** A process that does not answer for so long, the start of thousands of clients included, will not. */
const PATIENCE: Millis = 300_000;

export class Writers {
  readonly #process: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#ended = once(process, "exit").then(([code]) => {
      throw new Error(`the process of the writers ended with ${code}`);
    });
    // Nobody may be waiting for an answer just then.
    this.#ended.catch(() => undefined);
  }

  /** Resolves when the clients are there. */
  static async start(assignment: Assignment): Promise<Writers> {
    const path = fileURLToPath(new URL("writersProcess.ts", import.meta.url));
    const writers = new Writers(fork(path, { serialization: "advanced" }));
    await writers.#ask<"ready">(assignment);
    return writers;
  }

  begin(at: Millis): void {
    this.#process.send(at);
  }

  /** How many increments were neither acknowledged nor refused yet. */
  async pending(): Promise<number> {
    return await this.#ask("pending");
  }

  /** Ends the clients and the process. What is pending then is given up. */
  async stop(): Promise<Outcome> {
    const exited = once(this.#process, "exit");
    const outcome = await this.#ask<Outcome>("stop");
    await exited;
    return outcome;
  }

  async #ask<Answer>(order: Order): Promise<Answer> {
    this.#process.send(order);
    const silent = new AbortController();
    const silence = setTimeout(() => silent.abort(), PATIENCE);
    try {
      const [answer] = await Promise.race([once(this.#process, "message", { signal: silent.signal }), this.#ended]);
      return answer;
    } catch (error) {
      this.#process.kill("SIGKILL");
      throw silent.signal.aborted ? new Error(`the writers have not answered for ${PATIENCE / 1_000} s`) : error;
    } finally {
      clearTimeout(silence);
    }
  }
}
