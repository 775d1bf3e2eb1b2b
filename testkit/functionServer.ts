/**
 * One function as production runs it: in Google's Functions Framework, in a process that has many requests at a time. (The Functions
 * emulator gives a process one request at a time.) Its database is the emulator's.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { COUNTING_DEFAULTS } from "../functions/src/deploy/parameters.ts";
import { until } from "./until.ts";

const FRAMEWORK = fileURLToPath(import.meta.resolve("@google-cloud/functions-framework"));
/** Ends a process with the one that started it, which may be killed. */
const END_WITH_PARENT = ["--import", "data:text/javascript,process.stdin.on('end', () => process.exit()).resume()"];
const FUNCTIONS = fileURLToPath(new URL("../functions", import.meta.url));

export interface ServedFunction {
  /** `http://127.0.0.1:…/` */
  readonly url: string;
  /** What it has printed: its log. */
  output(): string;
  /** The most memory that the process has had so far, in bytes. Linux alone tells it; elsewhere 0. */
  peakMemory(): number;
  /** `kill -9`. Nothing listens at the address until it starts again. */
  kill(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

/**
 * Serves a built function of the plain codebase.
 *
 * @param params     parameters that differ from their defaults, by name
 * @param firestore  `host:port` of the emulator, or of a proxy before it
 */
export async function serveFunction(
  name: "ingest" | "ingestmessages" | "totals",
  params: Record<string, string>,
  firestore = process.env.FIRESTORE_EMULATOR_HOST as string,
): Promise<ServedFunction> {
  const port = await getPort();
  const url = `http://127.0.0.1:${port}/`;
  const printed: string[] = [];
  let child: ChildProcess | undefined;
  const served: ServedFunction = {
    url,
    output: () => printed.join(""),
    peakMemory() {
      if (process.platform !== "linux") return 0;
      return 1_024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child?.pid}/status`, "utf8"))?.[1]);
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
    async start() {
      const signature = name === "ingestmessages" ? "cloudevent" : "http";
      const args = [
        ...END_WITH_PARENT,
        FRAMEWORK.replace(/index\.js$/, "main.js"),
        `--target=tally.${name}`,
        `--source=${FUNCTIONS}`,
      ];
      child = spawn(process.execPath, [...args, `--signature-type=${signature}`, `--port=${port}`], {
        stdio: ["pipe", "pipe", "pipe"],
        env: {
          ...process.env,
          ...COUNTING_DEFAULTS,
          ...params,
          FIRESTORE_EMULATOR_HOST: firestore,
          FUNCTION_TARGET: `tally.${name}`,
          // Production limits the heap by the instance's memory.
          NODE_OPTIONS: "--max-old-space-size=256",
        },
      });
      for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => printed.push(String(chunk)));
      const running = child;
      await until(async () => {
        if (running.exitCode !== null) throw new Error(`the function did not start:\n${served.output()}`);
        return await fetch(url, { method: "OPTIONS" }).then(
          () => true,
          () => false,
        );
      }, `${name} to start`);
    },
  };
  await served.start();
  return served;
}
