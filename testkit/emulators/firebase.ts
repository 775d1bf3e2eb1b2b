/**
 * One firebase-tools process: started until it is ready, then stopped, or killed with all processes that it has started.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { explainFailure, MissingRequirement } from "./requirements.ts";

/** `demo-` projects never reach Google's servers. */
export const PROJECT = "demo-tally";

export interface Firebase {
  /** Its descendant processes: emulators, and workers that run functions. */
  children(): number[];
  /** `kill -9` of the process and its descendants at once, as in a power cut. */
  kill(): Promise<void>;
  /** Stops it and the emulators; processes that are left are killed. */
  stop(): Promise<void>;
}

/**
 * Resolves when every emulator is ready and every function is loaded.
 *
 * @param folder  of the Firebase project
 * @param log     the file of its output
 * @param only    the emulators
 * @param signal  ends it before it is ready
 * @param more    further arguments, such as `--import`
 * @throws MissingRequirement, the reason of the signal, or an `Error` that ends with what firebase-tools printed
 */
export async function startFirebase(
  folder: string,
  log: string,
  env: NodeJS.ProcessEnv,
  only: readonly string[],
  signal?: AbortSignal,
  more: readonly string[] = [],
): Promise<Firebase> {
  signal?.throwIfAborted();
  const child = spawn("firebase", ["emulators:start", "--project", PROJECT, "--only", only.join(), ...more], {
    cwd: folder,
    env: { ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own: Ctrl-C does not reach it, and stop() ends it.
    detached: true,
  });
  const pid = child.pid as number;
  const children = () => descendants(pid);
  const firebase: Firebase = {
    children,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      // The group first, at once: it has the workers, and could start another one meanwhile.
      const emulators = children();
      killAll([-pid, pid, ...emulators]);
      await exited;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const processes = [-pid, pid, ...children()];
      const exited = once(child, "exit");
      child.kill("SIGINT");
      await Promise.race([exited, sleep(30_000, undefined, { ref: false })]);
      killAll(processes);
    },
  };

  const file = createWriteStream(log, { flags: "a" });
  let printed = "";
  let resolve = () => {};
  const ready = new Promise<void>((done) => {
    resolve = done;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      file.write(text);
      if (printed.length < 100_000) printed += text;
      if (printed.includes("All emulators ready")) resolve();
    });
  }
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code) => {
      const why = explainFailure(printed);
      reject(
        why
          ? new MissingRequirement(`${printed.slice(-2_000)}\n${why}`)
          : new Error(`firebase-tools ended with code ${code}:\n${printed}`),
      );
    });
    child.once("error", reject);
  });
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  for (const end of [ended, aborted]) end.catch(() => undefined);
  try {
    await Promise.race([ready, ended, aborted]);
  } catch (error) {
    if (signal?.aborted) await firebase.stop();
    throw error;
  }
  const lacksFunctions = only.includes("functions") && !printed.includes("shardcreated");
  if (/Failed to load function|Error: .*functions/.test(printed) || lacksFunctions) {
    await firebase.stop();
    throw new Error(`The functions did not load:\n${printed}`);
  }
  return firebase;
}

/** @param processes  their ids; negative for those of a whole group, where the platform has groups */
function killAll(processes: readonly number[]): void {
  for (const pid of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

/** The ids of all descendants of a process. */
function descendants(parent: number): number[] {
  if (process.platform === "win32") return [];
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const all = table
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const of = (pid: number): number[] =>
    all.filter(([, ppid]) => ppid === pid).flatMap(([child]) => [child, ...of(child)]);
  return of(parent);
}
