/** `watch`, built and in a process of its own: it ends by Ctrl-C alone. */
import { Timestamp } from "@google-cloud/firestore";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { CLI, cliProject, startProgram } from "../../testkit/cli.ts";
import { cuttingProxy, delayingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const PROJECT = "demo-cli-watch";
const { db, start, counter: make, clear } = cliProject(PROJECT);
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const ago = (seconds: number) => Timestamp.fromMillis(Date.now() - seconds * 1_000);

beforeEach(() => clear());
afterAll(async () => await db.terminate());

describe("without a terminal", () => {
  test("it waits for an unknown counter, and prints a line per change until Ctrl-C", async () => {
    const command = start("watch", "likes:a");
    await until(() => command.printed().includes("likes:a  no total yet"), "the first line");
    await make("likes:a", [5, 4], { rate: 1.5, today: 3 });
    await until(() => command.printed().includes("likes:a  9 · 3 today · 1.5 writes/s · 2 shards · "), "the total");
    await db.doc("counters/likes:a").update({ total: 1, windows: null, globalTotal: 12 });
    await until(() => command.printed().includes("likes:a  12 in all regions · 1 here"), "the total of all regions");
    command.process.kill("SIGINT");
    const { exitCode, stdout, stderr } = await command.ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "Cost: 3 reads.\n" });
    expect(stdout.split("\n")).toHaveLength(5);
  });

  test("--json prints a document a line, and says that a measurement is overdue, and that the counter is open", async () => {
    await make("likes:a", [5, 4]);
    const command = start("watch", "likes:a", "--json");
    const lines = () =>
      command
        .printed()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    await until(() => command.printed() !== "", "the first line");
    await db.doc("counters/likes:a").update({ nextPollAt: ago(24) });
    await until(() => lines().length === 2, "the overdue measurement");
    await db.doc("counters/likes:a").update({ "direct.open": true, asOf: ago(9_000), nextPollAt: null });
    await until(() => lines().length === 3, "the open counter");
    const known = { id: "likes:a", total: 9, shardCount: 2 };
    expect(lines()).toMatchObject([
      { ...known, open: false, problem: null },
      { ...known, open: false, problem: "overdue" },
      { ...known, open: true, problem: null },
    ]);
    command.process.kill("SIGINT");
    expect(await command.ended).toMatchObject({ exitCode: 0, stderr: "Cost: 3 reads.\n" });
  });

  test("it says that Firestore does not answer at first", async () => {
    await make("likes:a", [5, 4]);
    const proxy = await delayingProxy(host, 3_000);
    const command = start("watch", "likes:a", "--emulator", proxy.address);
    await until(
      () => command.printed().includes("likes:a  waiting for Firestore · no answer from"),
      "the missing answer",
    );
    await until(() => command.printed().includes("likes:a  9"), "the total");
    command.process.kill("SIGINT");
    expect(await command.ended).toMatchObject({ exitCode: 0 });
    await proxy.close();
  });

  test("it says that Firestore does not answer any more, and goes on when it does", { tags: "deep" }, async () => {
    await make("likes:a", [5, 4]);
    const proxy = await cuttingProxy(host);
    const command = start("watch", "likes:a", "--emulator", proxy.address);
    await until(() => command.printed().includes("likes:a  9"), "the total");
    proxy.withhold();
    const unanswered = /likes:a {2}9 .*no answer from Firestore for .*; check the connection\n/;
    await until(() => unanswered.test(command.printed()), "the missing answer");
    proxy.cut();
    await db.doc("counters/likes:a").update({ total: 10 });
    await until(() => command.printed().includes("likes:a  10"), "the next total");
    command.process.kill("SIGINT");
    expect(await command.ended).toMatchObject({ exitCode: 0 });
    await proxy.close();
  });
});

// `script` gives a program a terminal; these are the options of Linux.
test.skipIf(process.platform !== "linux")(
  "in a terminal it rewrites its line, which is whole after Ctrl-C",
  async () => {
    await make("likes:a", [5, 4]);
    const command = `stty cols 50; exec ${process.execPath} ${CLI} watch likes:a`;
    const env = { GCLOUD_PROJECT: PROJECT, TERM: "xterm-256color", NO_COLOR: "1" };
    const terminal = startProgram("script", ["-qec", command, "/dev/null"], env);
    await until(() => terminal.printed().includes("likes:a  9 · 0 today"), "the total");
    await db.doc("counters/likes:a").update({ total: 10, nextPollAt: ago(24) });
    const lines =
      /likes:a {2}10 · 0 today · 0 writes\/s · 2 shards\r\n\d.* ago\r\n! a measurement is overdue by 2\d s; run\r\n`npx firestore-tally doctor`/;
    await until(() => lines.test(terminal.printed()), "the overdue measurement");
    terminal.process.stdin?.write("\u0003");
    const { exitCode, stdout } = await terminal.ended;
    expect(exitCode).toBe(0);
    // The last text is written over ^C, and the cost begins on a new line.
    const [last = ""] = stdout.split("\u001b[0J").slice(-1);
    expect(last).toMatch(new RegExp(`^${lines.source}\\r\\nCost: 2 reads\\.\\r\\n$`));
  },
);
