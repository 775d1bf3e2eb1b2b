/** `migrate` beside the deployed functions (BRIDGE is in scripts/test.ts). Where it is killed: oldClients.test.ts. */
import { FieldValue } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally/admin";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";
import { admin } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const { db, run, json } = cliProject(process.env.GCLOUD_PROJECT as string);
const MAP = ["--map", "articles/{article}.reads=reads:{article}"];
const migrate = (...more: string[]) => json("migrate", ...MAP, "--yes", ...more);

const articles = admin.collection("articles");

async function clear(): Promise<void> {
  await Promise.all(["articles", "books"].map((name) => admin.recursiveDelete(admin.collection(name))));
  const counters = await admin.collection("counters").where("group", "==", "reads").get();
  await Promise.all(counters.docs.map(({ ref }) => admin.recursiveDelete(ref)));
}

/** Articles `a00`, `a01` … with 10, 11 … reads. @returns the sum */
async function addArticles(count: number): Promise<number> {
  const numbers = Array.from({ length: count }, (_, n) => 10 + n);
  const id = (n: number) => `a${String(n).padStart(2, "0")}`;
  await Promise.all(numbers.map((reads, n) => articles.doc(id(n)).set({ reads, title: "kept" })));
  return numbers.reduce((sum, reads) => sum + reads, 0);
}

async function sumOfCounters(): Promise<number> {
  const counters = await admin.collection("counters").listDocuments();
  const sums = counters.filter(({ id }) => id.startsWith("reads:")).map(({ id }) => sumOfIncrements(id));
  return (await Promise.all(sums)).reduce((sum, one) => sum + one, 0);
}

const sumOfFields = async () =>
  (await articles.get()).docs.reduce((sum, article) => sum + (Number(article.get("reads")) || 0), 0);

beforeAll(clear);
beforeEach(clear);
afterAll(async () => await db.terminate());

test("a dry run says how much there is and what it costs, and writes nothing", async () => {
  const total = await addArticles(12);
  await articles.doc("other").set({ title: "no reads" });
  await admin.doc("unrelated/x/_counter_shards_/one").set({ n: 1 });
  expect(await json("migrate", ...MAP, "--dry-run")).toMatchObject({
    dryRun: true,
    maps: [{ field: "articles/{article}.reads", counters: "reads:{article}", documents: 13, numbers: 12, total }],
    cost: { read: 13 + 36, write: 36 },
  });
  const { stdout } = await run("migrate", ...MAP, "--dry-run");
  for (const said of ["articles/{article}.reads", "12", String(total), "not added to the fields yet", "49 reads"]) {
    expect(stdout).toContain(said);
  }
  expect(await sumOfCounters()).toBe(0);
  await admin.doc("unrelated/x/_counter_shards_/one").delete();
});

test("each total is moved once, is published, and what cannot be moved is reported", async () => {
  const total = await addArticles(20);
  await articles.doc("text").set({ reads: "many" });
  await admin.doc("books/one/_counter_shards_/client").set({ sold: 3 });
  expect(await migrate()).toMatchObject({
    documents: 20,
    counters: 20,
    total,
    isPublished: true,
    leftAlone: {
      documents: [{ document: "articles/text", reason: 'the field is "many"' }],
      fields: { "books.sold": 1 },
    },
  });
  expect(await migrate()).toMatchObject({ documents: 20, counters: 0, total: 0, isPublished: null });
  expect(await sumOfCounters()).toBe(total);
  expect(await sumOfFields()).toBe(total);
  expect((await admin.doc("books/one/_counter_shards_/client").get()).data()).toEqual({ sold: 3 });
  const { stdout } = await run("migrate", ...MAP, "--yes");
  expect(stdout).toContain("0 moved to 0 counters");
  expect(stdout).toContain("books.sold: no map names it, in 1 document of _counter_shards_");
});

test("an import costs what the dry run says", async () => {
  await addArticles(40);
  const { cost } = await json("migrate", ...MAP, "--dry-run");
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  await migrate("--emulator", meter.address);
  const { reads, writes, deletes } = meter.usage;
  console.log(
    `40 counters: ${JSON.stringify(meter.usage)}, $${(25 * cost.dollars).toFixed(4)} per 1,000 with the publishes`,
  );
  expect([writes, deletes]).toEqual([cost.write, 0]);
  // The survey's five aggregations, and a few looks at the last counter.
  expect(reads - cost.read).toBeGreaterThanOrEqual(0);
  expect(reads - cost.read).toBeLessThanOrEqual(20);
  meter.close();
});

describe("--rollback", () => {
  test("leaves documents alone whose counter has nothing", async () => {
    await addArticles(2);
    await migrate();
    await articles.doc("text").set({ reads: "many" });
    await articles.doc("none").set({ title: "none" });
    const { stdout } = await run("migrate", ...MAP, "--rollback", "--yes");
    expect(stdout).toContain("0 given back to 0 of 4 documents");
    expect((await articles.doc("text").get()).data()).toEqual({ reads: "many" });
    expect((await articles.doc("none").get()).data()).toEqual({ title: "none" });
    expect((await admin.doc("counters/reads:none").get()).exists).toBe(false);
  });

  test("gives the fields the exact totals, under load, and may be repeated", async () => {
    const total = await addArticles(10);
    await migrate();
    const views = counter(admin, "reads:a03");
    const counting = Promise.all(Array.from({ length: 40 }, () => incrementCounter(views)));
    expect((await migrate("--rollback")).documents).toHaveLength(10);
    await counting;
    await migrate("--rollback");
    expect(await sumOfFields()).toBe(total + 40);
    expect(await sumOfCounters()).toBe(total + 40);
    await until(async () => (await readPublished("reads:a03"))?.total === 13 + 40, "the publish of the last increment");
    expect(await sumOfFields()).toBe(total + 40);
    // Google's counter goes on from there, and a later move has what it has added.
    await articles.doc("a03").update({ reads: FieldValue.increment(7) });
    expect(await migrate()).toMatchObject({ counters: 1, total: 7 });
  });
});

test("a path without documents is pointed out", async () => {
  const { stdout } = await run("migrate", "--map", "artikles/{article}.reads=reads:{article}", "--dry-run");
  expect(stdout).toContain("no document of artikles/{article}.reads");
});

describe("is refused", () => {
  test.each([
    [[], "--map"],
    [["--map", "articles/{article}.reads"], '"articles/{article}.reads": write path/{name}.field=group:{name}'],
    [["--map", "reads=articles/{article}.reads"], '"reads=articles/{article}.reads": write path/{name}.field'],
    [["--map", "articles.reads=reads"], "path of a document"],
    [[...MAP, "--dry-run", "--rollback"], "leave out one"],
  ])("as %j, with advice: %s", async (args, advice) => {
    const { stderr, exitCode } = await run("migrate", ...args);
    expect(stderr).toContain(advice);
    expect(exitCode).toBe(2);
  });

  test("without --yes and a terminal", async () => {
    await addArticles(1);
    const { stderr, exitCode } = await run("migrate", ...MAP);
    expect(stderr).toContain("pass --yes");
    expect(exitCode).toBe(2);
    expect(await sumOfCounters()).toBe(0);
  });
});
