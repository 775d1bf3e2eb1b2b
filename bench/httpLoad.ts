/** Many requests a second by HTTP, from a process of its own (`httpLoadProcess.ts`), at a rate that does not depend on the answers. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Millis, Percentiles } from "../testkit/statistics.ts";

export interface HttpLoad {
  readonly port: number;
  /** The requests' paths, in turns. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

export interface HttpLoadResult {
  readonly answers: Readonly<Record<string, number>>;
  /** From the first request to the last answer. */
  readonly took: Millis;
  /** Headers and bodies of all answers. */
  readonly bytes: number;
  /** From a request to its answer. */
  readonly answered: Percentiles;
}

/** Resolves when all requests are answered. */
export async function runHttpLoad(load: HttpLoad): Promise<HttpLoadResult> {
  const child = fork(fileURLToPath(new URL("httpLoadProcess.ts", import.meta.url)));
  child.send(load);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the process of the requests ended with ${code}`);
  });
  ended.catch(() => undefined);
  const [result] = await Promise.race([once(child, "message"), ended]);
  return result;
}
