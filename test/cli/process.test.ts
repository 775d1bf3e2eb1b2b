/** The built command line in a process of its own: exit codes, signals, a terminal, and packages or credentials that are missing. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { CLI, cliProject, startProgram } from "../../testkit/cli.ts";
import { delayingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const PROJECT = "demo-cli-process";
const { db, start, counter: make, left, clear } = cliProject(PROJECT);
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const ESCAPE = "\u001b";

beforeEach(() => clear());
afterAll(async () => await db.terminate());

test("Ctrl-C prints how to resume, and resuming deletes the rest", async () => {
  const ids = Array.from({ length: 40 }, (_, n) => `likes:${n}`).sort();
  await Promise.all(ids.map((id) => make(id, [1, 2])));
  await make("views:other", [1]);
  // Slow enough to be interrupted halfway.
  const proxy = await delayingProxy(host, 25);
  const command = start("delete", "--group", "likes", "--yes", "--json", "--emulator", proxy.address);
  await until(async () => (await left()).length <= 32, "some to be deleted");
  command.process.kill("SIGINT");
  const { exitCode, stdout, stderr } = await command.ended;
  await proxy.close();
  expect(exitCode).toBe(130);
  const { counters, after } = JSON.parse(stdout);
  expect(counters.length).toBeGreaterThan(0);
  expect(counters.length).toBeLessThan(ids.length);
  expect(after).toBe(ids[counters.length - 1]);
  // Counters up to `after` are done.
  expect(await left()).not.toContain(after);
  const [, typed = ""] = /^ {2}npx firestore-tally (.+)$/m.exec(stderr) ?? [];
  expect(typed).toContain(`--after ${after}`);
  const rest = await start(...typed.replace(proxy.address, host).split(" ")).ended;
  expect(rest).toMatchObject({ exitCode: 0 });
  // Some of those in progress were deleted completely.
  expect(JSON.parse(rest.stdout).counters.length).toBeLessThanOrEqual(ids.length - counters.length);
  expect(await left()).toEqual(["views:other"]);
});

describe("it exits with 1 and one line that says what to do without", () => {
  const oneLine = /^error: .+\n$/;

  test("credentials", async () => {
    const nowhere = { FIRESTORE_EMULATOR_HOST: undefined, GOOGLE_APPLICATION_CREDENTIALS: undefined, HOME: tmpdir() };
    const env = { ...nowhere, CLOUDSDK_CONFIG: tmpdir(), METADATA_SERVER_DETECTION: "none" };
    const args = [CLI, "inspect", "a", "--project", PROJECT];
    const { exitCode, stderr } = await startProgram(process.execPath, args, env).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain("gcloud auth application-default login");
  });

  test("firebase-admin; --help and estimate need no package", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tally-cli-"));
    try {
      const alone = join(folder, "cli.mjs");
      copyFileSync(CLI, alone);
      const inspect = await startProgram(process.execPath, [alone, "inspect", "a"]).ended;
      expect(inspect.exitCode).toBe(1);
      expect(inspect.stderr).toMatch(oneLine);
      expect(inspect.stderr).toContain("npm install firebase-admin");
      expect(await startProgram(process.execPath, [alone, "--help"]).ended).toMatchObject({ exitCode: 0, stderr: "" });
      const estimate = await startProgram(process.execPath, [alone, "estimate", "--per-second", "1", "--json"]).ended;
      expect(JSON.parse(estimate.stdout).increments).toBe(2_592_000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

// `script` gives a program a terminal; these are the options of Linux.
describe.skipIf(process.platform !== "linux")("in a terminal", () => {
  function inTerminal(args: string, env: Record<string, string> = {}) {
    const command = `stty cols 80; exec ${process.execPath} ${CLI} ${args}`;
    return startProgram("script", ["-qec", command, "/dev/null"], {
      GCLOUD_PROJECT: PROJECT,
      TERM: "xterm-256color",
      ...env,
    });
  }

  test("Ctrl-C at a question exits with 130; a group is deleted once its name is typed, with a progress bar", async () => {
    await make("likes:a", [1, 2], { entries: 3 });
    const answer = async (keys: string) => {
      const terminal = inTerminal("delete --group likes");
      await until(() => terminal.printed().includes("Type likes"), "the question");
      terminal.process.stdin?.write(keys);
      return await terminal.ended;
    };
    expect(await answer("\u0003")).toMatchObject({ exitCode: 130, stdout: expect.stringContaining("6 documents") });
    expect(await left()).toEqual(["likes:a"]);
    const { exitCode, stdout } = await answer("likes\r");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("100% · 1/1 counter");
    expect(await left()).toEqual([]);
  });

  test("output has colours, unless NO_COLOR is set", async () => {
    await make("likes:a", [1]);
    const [coloured, plain, help] = await Promise.all([
      inTerminal("inspect likes:a").ended,
      inTerminal("inspect likes:a", { NO_COLOR: "1" }).ended,
      inTerminal("--help", { NO_COLOR: "1" }).ended,
    ]);
    expect(coloured.stdout).toContain(ESCAPE);
    expect(plain.stdout + help.stdout).not.toContain(ESCAPE);
  });
});
