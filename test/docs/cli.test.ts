/**
 * What docs/cli.md shows is what the built command line prints: each command in it runs as a user would run it, on a shop of some
 * counters, which none of them changes. After a change that is meant, `vitest run -u` writes the new output into it.
 */
import { readFileSync } from "node:fs";
import { FieldValue } from "@google-cloud/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";

const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const project = "demo-shop";
const { db, start, counter, clear } = cliProject(project);

beforeAll(async () => {
  await clear();
  await counter("likes:post42", [310, 287, 302, 295, 14, 9], { shardCount: 4, rate: 3.4, entries: 1_225, today: 38 });
  await counter("likes:post7", [41], { rate: 0.2, entries: 41, today: 1 });
  await counter("likes:post9", [7], { entries: 7 });
  await counter("visits:today", [1_024, 998], { rate: 1.1 });
  for (const [page, visits] of [
    ["home", 48_211],
    ["about", 1_204],
  ] as const) {
    await db.doc(`pages/${page}`).set({ visits });
  }
  await db.doc("pages/home/_counter_shards_/a-client").set({ visits: 3 });
  for (const [shard, by] of [
    ["0", 2],
    ["3", 1],
  ] as const) {
    const ref = db.doc(`counters/likes:post42/shards/${shard}`);
    const { count } = (await ref.get()).data() as { count: number };
    await ref.update({ count: count + by, writes: count + by });
  }
  await db.doc("counters/hits:downloads").set({ num_shards: 3 });
  for (const shard of ["0", "1", "2"]) await db.doc(`counters/hits:downloads/shards/${shard}`).set({ count: 40 });
  // A server that increments without the field of the index.
  await db.doc("counters/visits:today/shards/1").update({ shard: FieldValue.delete() });
});

afterAll(async () => await db.terminate());

/** Where the hub of the emulators listens. */
const HUB = /(Emulator Suite at )127\.0\.0\.1:\d+/g;

/** The words of a command, as a shell would have them. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

/**
 * What is the same in every run: neither where the emulator listens, nor how old something is, nor the widths that follow, nor the read
 * by which samples of `doctor` differ, since each begins at another letter.
 */
function lasting(output: string): string {
  return output
    .replace(/[\d.]+ s ago/g, "1 s ago")
    .replace(/(in|overdue by) [\d.]+ s\b/g, "in 1 s")
    .replace(/(warnings\. Cost:) \d+/, "$1 23")
    .replace(/ +/g, " ");
}

test("every command of docs/cli.md prints what it says", async () => {
  const docs = readFileSync("docs/cli.md", "utf8");
  const blocks = [...docs.matchAll(/^```console\n\$ npx firestore-tally (.+)\n([\s\S]*?)^```\n/gm)];
  expect(blocks).toHaveLength(docs.split("\n$ npx firestore-tally ").length - 1);
  let now = "";
  let end = 0;
  for (const { 0: block, 1: command = "", 2: shown = "", index } of blocks) {
    const { stdout, stderr } = await start(...wordsOf(command)).ended;
    const printed = `${stderr}${stdout}`.replaceAll(host, "127.0.0.1:8080").replace(HUB, "$1127.0.0.1:4400");
    const output = lasting(printed) === lasting(shown) ? shown : printed;
    now += `${docs.slice(end, index)}\`\`\`console\n$ npx firestore-tally ${command}\n${output}\`\`\`\n`;
    end = index + block.length;
  }
  await expect(now + docs.slice(end)).toMatchFileSnapshot("../../docs/cli.md");
});
