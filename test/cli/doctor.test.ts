/**
 * What `doctor` reads of the counters in a database: their faults, other regions, the query plan, and what that costs. What it reads of
 * a deployment is tested by `cli/src/doctor/readApis.test.ts`, and a whole suite by `test/packaging/doctor.test.ts`.
 */
import { readFileSync } from "node:fs";
import { type DocumentReference, FieldValue, type Firestore, Timestamp } from "@google-cloud/firestore";
import { initializeApp } from "firebase-admin/app";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { counter, setCounterSource } from "../../admin/src/index.ts";
import { findingsOf } from "../../cli/src/doctor/checks.ts";
import type { CounterSample } from "../../cli/src/doctor/counterFacts.ts";
import type { ProjectFacts } from "../../cli/src/doctor/facts.ts";
import { readProject } from "../../cli/src/doctor/readProject.ts";
import {
  type GoogleApis,
  healthyProject,
  pathsOf,
  type Resource,
  serveGoogleApis,
} from "../../cli/testing/googleApis.ts";
import { cliProject } from "../../testkit/cli.ts";
import { adminAt } from "../../testkit/clients.ts";
import { explained, withoutIndex } from "../../testkit/explained.ts";
import { type Inspection, startProxy } from "../../testkit/grpcProxy.ts";
import { meter } from "../../testkit/meter.ts";

/** What happens while the command waits, instead of the wait. */
const { meanwhile } = vi.hoisted(() => ({
  meanwhile: { run: undefined as ((wait: number) => Promise<void>) | undefined },
}));
vi.mock(import("node:timers/promises"), async (original) => {
  const timers = await original();
  const sleep = (wait = 0, value?: unknown) => meanwhile.run?.(wait) ?? timers.setTimeout(wait, value);
  return { ...timers, setTimeout: sleep as typeof timers.setTimeout };
});

const PROJECT = "demo-doctor";
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const INDEX = "(shard ASC, count ASC, writes ASC, __name__ ASC)";
const paths = pathsOf(PROJECT);
const { db, counter: make, clear } = cliProject(PROJECT);
const app = initializeApp({ projectId: PROJECT }, PROJECT);
let apis: GoogleApis;

beforeAll(async () => {
  apis = await serveGoogleApis({});
  process.env.TALLY_GOOGLE_APIS = apis.address;
});
beforeEach(async () => {
  meanwhile.run = undefined;
  apis.resources = healthyProject(PROJECT);
  await clear();
  await make("likes:post42", [5, 9, 1], { shardCount: 1 });
  await make("views:home", Array(30).fill(2), { shardCount: 30 });
  await db.doc("counters/views:home").update({ total: 60 + 3, direct: { open: false, count: 3 } });
});
afterAll(async () => {
  delete process.env.TALLY_GOOGLE_APIS;
  await apis.close();
  await db.terminate();
});

function readFacts(firestore: Firestore = db, sample = 20): Promise<ProjectFacts> {
  const context = {
    app,
    firestore: firestore as never,
    target: { project: PROJECT, database: "(default)", collection: "counters", emulator: host },
    json: false,
    yes: false,
    ref: (id: string) => counter(firestore as never, id),
  };
  return readProject(context, { sample, readShipped: (file) => readFileSync(file, "utf8") });
}

const examine = async (firestore?: Firestore) => findingsOf(await readFacts(firestore));
/** What is found when some time has passed without a write. */
async function examineLater(millis: number) {
  const facts = await readFacts();
  const { value: sample } = facts.counters as { value: CounterSample };
  return findingsOf({ ...facts, counters: { value: { ...sample, now: sample.now + millis } } });
}
const minutesAgo = (minutes: number) => Timestamp.fromMillis(Date.now() - minutes * 60_000);
const setParameters = (values: Record<string, string>) => {
  for (const one of apis.resources[paths.functions].functions) {
    Object.assign(one.serviceConfig.environmentVariables, values);
  }
  // As `init` writes the policy for them.
  const [rules] = apis.resources[paths.ruleset].source.files;
  rules.content = rules.content.replace(/(needsFunctions\(\) \{\s+return )[^;]+/, "$1true");
};

test("finds each fault of a counter, with its remedy, and nothing else", async () => {
  type Spoil = (counter: DocumentReference) => Promise<unknown>;
  const shard = (counter: DocumentReference, n: number) => counter.collection("shards").doc(`${n}`);
  const setting =
    (fields: object): Spoil =>
    (counter) =>
      counter.update(fields);
  const malformed: Spoil = (counter) => shard(counter, 7).set({ shard: "7", count: "many", writes: 1 });
  const faults: [id: string, remedy: RegExp, spoil: Spoil, shards?: 30][] = [
    ["counter-changed", /reset/, (counter) => shard(counter, 2).delete()],
    ["counter-damaged", /firestore-tally publish/, setting({ asOf: minutesAgo(-60) })],
    ["poll-lost", /sweep/, setting({ nextPollAt: minutesAgo(30) }), 30],
    ["shards-malformed", /to a number/, malformed],
    ["shards-unindexed", /\/admin/, (counter) => shard(counter, 0).update({ shard: FieldValue.delete() })],
    ["shards-unindexed", /\/admin/, (counter) => shard(counter, 7).update({ writes: FieldValue.delete() }), 30],
    ["shards-refused", /correct these fields/, (counter) => shard(counter, 0).update({ shard: "1" })],
    ["source-counted", /remove the source/, setting({ countedCollection: "posts", source: { collection: "posts" } })],
    ["source-invalid", /setCounterSource/, setting({ source: { collection: "posts/x" } })],
    ["reconcile-overdue", /sweep/, setting({ nextReconcileAt: minutesAgo(60) })],
  ];
  for (const [n, [id, , spoil, shards]] of faults.entries()) {
    const name = `${id}:${n}`;
    await make(name, shards ? Array(shards).fill(2) : [5, 9, 1], { shardCount: shards ?? 1 });
    await spoil(db.doc(`counters/${name}`));
  }
  const found = await examine();
  expect(found.map(({ id }) => id).toSorted()).toEqual([...new Set(faults.map(([id]) => id))].toSorted());
  for (const [n, [id, remedy]] of faults.entries()) {
    const finding = found.find((one) => one.id === id);
    expect(finding).toMatchObject({ severity: "error", remedy: expect.stringMatching(remedy) });
    expect(finding?.problem).toContain(`${id}:${n}`);
  }
});

test("finds drift from a source", async () => {
  for (let n = 0; n < 20; n++) await db.collection("posts").add({});
  await setCounterSource(counter(db as never, "likes:post42"), { collection: "posts" }, { alarmBeyond: 10 });
  meanwhile.run = async () => {};
  const remedy = expect.stringContaining("npx firestore-tally reconcile");
  expect(await examine()).toMatchObject([
    { id: "drift", problem: expect.stringContaining("likes:post42 (+5)"), remedy },
  ]);
});

test("finds counters whose writes wait for a publish, and increments of old apps that nothing adds up, after a minute", async () => {
  await make("likes:stuck", [3]);
  await db.doc("counters/likes:stuck/shards/0").update({ count: 4, writes: 4 });
  await db.doc("counters/views:never/shards/0").set({ shard: "0", count: 1, writes: 1 });
  await db.doc("pages/home/_counter_shards_/client").set({ visits: 3 });
  expect(await examine()).toEqual([]);
  expect(await examineLater(61_000)).toMatchObject([
    {
      id: "counter-unpublished",
      problem: expect.stringMatching(/^views:never has/),
      remedy: expect.stringContaining("deployed"),
    },
    { id: "counter-stuck", problem: expect.stringMatching(/^likes:stuck has/), remedy: expect.stringContaining("log") },
    { id: "legacy-shards-waiting", problem: expect.stringContaining("of pages/home wait") },
  ]);
});

test("finds visitors and items that wait for a function that is not deployed", async () => {
  await db.doc("counters/visits:home/tallyVisitors/3").set({ visitors: ["3f"] });
  await db.doc("counters/songs/tallyItemCounts/x").set({ bytes: "" });
  await db.doc("others/visits:home/tallyVisitors/3").set({ visitors: ["3f"] });
  expect(await examineLater(61_000)).toEqual([]);
  const resource = apis.resources[paths.functions];
  resource.functions = resource.functions.filter(({ name }: Resource) => !/merge(visitors|items)$/.test(name));
  expect(await examine()).toEqual([]);
  const remedy = (parameter: string) => expect.stringContaining(`set ${parameter}=yes`);
  expect(await examineLater(61_000)).toMatchObject([
    { id: "visitors-waiting", problem: expect.stringMatching(/of visits:home wait/), remedy: remedy("VISITORS") },
    { id: "items-waiting", problem: expect.stringMatching(/of songs wait/), remedy: remedy("ITEMS") },
  ]);
});

test("finds a field that stands still since no parameter names it", async () => {
  await db.doc("counters/likes:post42").update({ mirrored: 9 });
  expect(await examine()).toMatchObject([
    { id: "mirror-missing", severity: "warning", remedy: expect.stringContaining(".env.<project>") },
  ]);
  setParameters({ MIRRORS: "likes=posts/{name}.likes" });
  expect(await examine()).toEqual([]);
});

test("finds documents that do not show the total of their counter", async () => {
  setParameters({ MIRRORS: "likes=posts/{name}.stats.likes, members:{team}:{room}=teams/{team}/rooms/{room}.members" });
  await make("members:a:b", [4]);
  await db.doc("posts/post42").set({ stats: { likes: 15 } });
  await db.doc("teams/a/rooms/b").set({ members: 4 });
  // Without a counter, there is nothing to show.
  await db.doc("posts/quiet").set({});
  expect(await examine()).toEqual([]);
  await db.doc("posts/post42").set({ stats: "none" });
  await db.doc("teams/a/rooms/b").set({ members: 3 });
  const [finding, ...others] = await examine();
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ id: "mirror-differs", severity: "warning" });
  expect(finding?.problem).toContain("stats.likes of posts/post42 (nothing instead of 15)");
  expect(finding?.problem).toContain("members of teams/a/rooms/b (3 instead of 4)");
  expect(finding?.remedy).toContain("npx firestore-tally publish likes:post42 members:a:b");
});

describe("regions", () => {
  const eu = adminAt(host, PROJECT, "tally-eu");
  afterAll(() => eu.close());
  /** Brings the register of the default database to the other one. */
  const arrive = async (id: string, register?: object) => {
    const { total, asOf } = (await db.doc(`counters/${id}`).get()).data() ?? {};
    await eu.firestore.doc(`counters/${id}`).set({ regions: { us: register ?? { total, asOf } } }, { merge: true });
  };

  beforeEach(async () => {
    await clear("tally-eu");
    const { functions } = apis.resources[paths.functions];
    const inEu: Resource[] = structuredClone(functions);
    for (const one of inEu) {
      one.name = one.name.replace("tally-", "eu-");
      one.serviceConfig.environmentVariables.DATABASE_ID = "tally-eu";
      for (const filter of one.eventTrigger?.eventFilters ?? []) {
        if (filter.attribute === "database") filter.value = "tally-eu";
      }
    }
    functions.push(...inEu);
    setParameters({ REGIONS: "us=(default), eu=tally-eu" });
    for (const id of ["likes:post42", "views:home"]) await arrive(id);
  });

  test("finds what has not arrived, a region that has lost increments, and nothing where both are equal", async () => {
    expect(await examine()).toEqual([]);
    const problem = expect.stringContaining("likes:post42");
    // Later than that is too late, so that the command does not wait for it.
    await db.doc("counters/likes:post42").update({ exchangeAt: minutesAgo(1) });
    await arrive("likes:post42", { total: 3, asOf: minutesAgo(90) });
    expect(await examine()).toMatchObject([{ id: "region-behind", problem }]);
    await arrive("likes:post42", { total: 99, asOf: Timestamp.now() });
    expect(await examine()).toMatchObject([{ id: "region-restored", problem }]);
  });

  test("waits for an exchange that is under way", async () => {
    await arrive("likes:post42", { total: 3, asOf: minutesAgo(90) });
    await db.doc("counters/likes:post42").update({ exchangeAt: Timestamp.fromMillis(Date.now() - 1_000) });
    const waits: number[] = [];
    meanwhile.run = async (wait) => {
      waits.push(wait);
      await arrive("likes:post42");
    };
    expect(await examine()).toEqual([]);
    expect(waits).toEqual([expect.closeTo(9_000, -4)]);
  });
});

test("finds by Query Explain that the planner takes another index, and by its error that there is none", async () => {
  expect(findingsOf(await readThrough(explained(INDEX, 1)))).toEqual([]);
  const other = findingsOf(await readThrough(explained("(__name__ ASC)", 30)));
  expect(other).toMatchObject([{ id: "plan", problem: expect.stringContaining("30 reads") }]);
  apis.resources[paths.indexes] = null;
  expect(findingsOf(await readThrough(withoutIndex))).toMatchObject([{ id: "index-missing", severity: "error" }]);
});

test("looks at a bounded sample, writes nothing, and states what its reads cost", async () => {
  for (let n = 0; n < 5; n++) await make(`pages:${n}`, [1]);
  const { reading, inspection } = meter();
  const { counters, reads } = await readThrough(explained(INDEX, 1), inspection);
  expect(counters).toMatchObject({ value: { counters: { length: 7 }, isComplete: true } });
  expect(reading.usage).toMatchObject({ reads, writes: 0, deletes: 0 });
  expect([...reading.calls.keys()]).not.toContain("transaction");
  expect((await readFacts(db, 3)).counters).toMatchObject({ value: { counters: { length: 3 }, isComplete: false } });
});

async function readThrough(...inspections: Inspection[]): Promise<ProjectFacts> {
  const proxy = await startProxy(host, inspections);
  const { firestore, close } = adminAt(proxy.address, PROJECT);
  try {
    return await readFacts(firestore);
  } finally {
    await close();
    proxy.close();
  }
}
