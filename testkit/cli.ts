/**
 * The command line: in the process of a test, which takes milliseconds, and as a user runs it, built and in a process of its own. Its
 * project has no functions.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { Firestore, Timestamp } from "@google-cloud/firestore";
import { type FinishedProgram, runCommand } from "../cli/testing/runCommand.ts";
import { type CounterWindowName, eachWindow, WINDOW_NAMES } from "../core/src/index.ts";

export const CLI = resolve("client/dist/cli.js");

export interface RunningProgram {
  readonly process: ChildProcess;
  /** What it has printed so far, on both streams. */
  printed(): string;
  readonly ended: Promise<FinishedProgram>;
}

/** Variables that decide about colours besides the terminal; with `CI` set, node takes any terminal for one without. */
const UNSET = { CI: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined };

/** Starts a program. Its stdin is a pipe, so it cannot ask for confirmation. */
export function startProgram(
  program: string,
  args: readonly string[],
  env: Record<string, string | undefined> = {},
): RunningProgram {
  const child = spawn(program, args, { env: { ...process.env, ...UNSET, ...env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([exitCode]) => ({ exitCode, stdout, stderr }));
  return { process: child, printed: () => stdout + stderr, ended };
}

/** A project without functions, its counters and the command line for it. */
export function cliProject(projectId: string) {
  const db = new Firestore({ projectId });
  const inProject = (...args: string[]) => runCommand("--project", projectId, ...args);

  return {
    db,
    /** Starts the built command line in a process of its own. */
    start: (...args: string[]) => startProgram(process.execPath, [CLI, ...args], { GCLOUD_PROJECT: projectId }),
    /** Runs a command to its end, in this process. */
    run: inProject,
    /** The same, of a command that must succeed. @returns what it printed as JSON */
    // biome-ignore lint/suspicious/noExplicitAny: the tests know the shape
    async json(...args: string[]): Promise<any> {
      const { exitCode, stdout, stderr } = await inProject("--json", ...args);
      if (exitCode !== 0) throw new Error(`${args.join(" ")} ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout);
    },
    /** Deletes everything. */
    async clear(databaseId = "(default)") {
      const { FIRESTORE_EMULATOR_HOST: host } = process.env;
      const url = `http://${host}/emulator/v1/projects/${projectId}/databases/${databaseId}/documents`;
      await fetch(url, { method: "DELETE" });
    },
    /** Creates a counter as the functions would leave it: shards with these counts, and their sum published. */
    async counter(
      id: string,
      counts: readonly number[],
      { shardCount = counts.length, rate = 0, entries = 0, today = 0 } = {},
    ) {
      const counter = db.doc(`counters/${id}`);
      const writer = db.bulkWriter();
      const at = Timestamp.now();
      counts.forEach((count, n) => {
        void writer.set(counter.collection("shards").doc(`${n}`), { shard: `${n}`, count, writes: count, at });
      });
      for (let n = 0; n < entries; n++) {
        void writer.set(counter.collection("tallyEntries").doc(`user${n}`), {
          once: `user${n}`,
          by: 1,
          shard: "0",
          at,
        });
      }
      await writer.close();
      const sum = counts.reduce((all, count) => all + count, 0);
      await counter.set({
        total: sum,
        shardCount,
        writes: sum,
        rate,
        asOf: Timestamp.now(),
        group: id.slice(0, Math.max(id.indexOf(":"), 0)),
        phase: shardCount > 1 ? "scattered" : "idle",
        nextPollAt: shardCount > 1 ? Timestamp.fromMillis(Date.now() + 10_000) : null,
        calmSince: null,
        unusedSince: null,
        slowSince: null,
        shardDocuments: counts.length,
        countedCollection: null,
        malformedShards: [],
        windows: windowsWith(today),
      });
    },
    /** The shards of a counter, by id. */
    async shards(id: string): Promise<Record<string, number>> {
      const { docs } = await db.collection(`counters/${id}/shards`).get();
      return Object.fromEntries(docs.map((shard) => [shard.id, shard.get("count")]));
    },
    /** The ids of counters of which any document is left. */
    async left(): Promise<string[]> {
      return (await db.collection("counters").listDocuments()).map(({ id }) => id);
    },
  };
}

/** The windows of a counter that has counted in a day, seven times as much in its week, and more in longer ones. */
function windowsWith(day: number) {
  const until = Timestamp.fromMillis(Date.now() + 3_600_000);
  const times = (window: CounterWindowName) => [1, 7, 30, 365][WINDOW_NAMES.indexOf(window)] as number;
  return { timeZone: "UTC", ...eachWindow((window) => ({ until, total: times(window) * day })) };
}
