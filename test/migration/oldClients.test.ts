/**
 * Moving day: old clients write as they always have, Google's functions run until the middle, and `migrate` is started, killed and
 * started again meanwhile. Every increment counts once, in the counter and in the field. The same story runs with writers of
 * Tally's own and with the real extension or kit.
 */
import "../../testkit/parseProtocolOnce.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { FieldPath } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Random, randomFor } from "../../core/testing/random.ts";
import { cliProject } from "../../testkit/cli.ts";
import { admin, client } from "../../testkit/clients.ts";
import type { LegacyClient } from "../../testkit/legacy/clients.ts";
import { LEGACY_SHARDS } from "../../testkit/legacy/sums.ts";
import { startMeter } from "../../testkit/meter.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { openGoogleCounter, PEER } from "./googleExtension.ts";
import { type LegacyApp, openLegacyApp } from "./legacyApp.ts";
import { openLegacyShards } from "./legacyRules.ts";

const { db, json, start } = cliProject(process.env.GCLOUD_PROJECT as string);
const MAPS = ["--map", "pages/{page}.visits=visits:{page}", "--map", "pages/{page}.stats.stars=stars:{page}"];
const COUNTERS = { visits: "visits", "stats.stars": "stars" } as const;

/** Documents that old clients count in, and documents that only `migrate` moves. */
const [BUSY, QUIET] = [6, 12];
/** Increments of each client in one of the four phases. */
const INCREMENTS = 12;
const SPACING_MS = 100;

let closeShards: () => Promise<void>;
beforeAll(async () => {
  closeShards = await openLegacyShards("pages");
});
afterAll(async () => {
  await closeShards();
  await db.terminate();
});

interface Expected {
  readonly document: string;
  readonly field: keyof typeof COUNTERS;
  total: number;
}

/** Documents with totals that Google's counter has counted before. */
async function addDocuments(name: string, count: number): Promise<Expected[]> {
  const documents = Array.from({ length: count }, (_, n) => ({
    path: `pages/${name}-${n}`,
    visits: 100 * n + 1,
    stars: n + 1,
  }));
  await Promise.all(
    documents.map(({ path, visits, stars }) => admin.doc(path).set({ visits, stats: { stars, kept: "x" } })),
  );
  return documents.flatMap(({ path, visits, stars }): Expected[] => [
    { document: path, field: "visits", total: visits },
    { document: path, field: "stats.stars", total: stars },
  ]);
}

/**
 * Increments random fields by −3 to 5, one after the other. If a page had several in its write stream and a lock ended the stream, the
 * emulator could count the later ones, whose answers are lost, and the page would send them again.
 */
async function count(writer: LegacyClient, expected: Expected[], random: Random): Promise<void> {
  for (let n = 0; n < INCREMENTS; n++) {
    const one = random.pick(expected);
    const by = random.integer(-3, 4) || 5;
    one.total += by;
    await writer.increment({ document: one.document, field: one.field, by });
    await sleep(SPACING_MS);
  }
}

const counterOf = ({ document, field }: Expected) => `${COUNTERS[field]}:${document.slice("pages/".length)}`;
const fieldOf = async ({ document, field }: Expected) =>
  (await admin.doc(document).get()).get(new FieldPath(...field.split(".")));

/** The legacy shards that are left. */
async function waiting(expected: readonly Expected[]): Promise<string[]> {
  const documents = new Set(expected.map(({ document }) => document));
  const found = [...documents].map((path) => admin.collection(`${path}/${LEGACY_SHARDS}`).get());
  return (await Promise.all(found)).flatMap(({ docs }) => docs.map(({ ref }) => ref.path));
}

/** Waits until every field shows its total, as does the published counter, and it is the sum of the counter's shards. */
async function allSettle(expected: readonly Expected[]): Promise<void> {
  let wrong: string[] = [];
  const isSettled = async () => {
    const found = expected.map(async (one) => {
      const id = counterOf(one);
      const [field, published, sum] = await Promise.all([fieldOf(one), readPublished(id), sumOfIncrements(id)]);
      const totals = [field, published?.total, sum];
      return totals.some((total) => total !== one.total) ? [`${id}: ${totals} of ${one.total}`] : [];
    });
    wrong = (await Promise.all(found)).flat();
    return wrong.length === 0;
  };
  await until(isSettled, "all totals").catch(async (error) => {
    throw new Error(`${error.message}: ${wrong.join("; ")}; waiting: ${(await waiting(expected)).join() || "none"}`);
  });
}

/** Runs `migrate`, and kills it when it has moved some of the documents. */
async function killMigrate(): Promise<void> {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { process: command, ended } = start("migrate", ...MAPS, "--yes", "--emulator", meter.address);
  await until(() => meter.usage.writes > 2 * QUIET, "migrate to have moved some documents");
  command.kill("SIGKILL");
  expect((await ended).exitCode).toBeNull();
  meter.close();
}

const apps = [
  { name: "writers by the description in testkit/legacy/README.md", open: openLegacyApp, isMissing: false },
  {
    name: "Google's own extension or kit (set TALLY_PEER_DIR to its folder to run this)",
    open: openGoogleCounter,
    isMissing: PEER === undefined,
  },
];

for (const { name, open, isMissing } of apps) {
  describe.skipIf(isMissing)(name, () => {
    /** Begins the names of this run's documents: a field that is set again would start from there. */
    const run = `${open.name}${Date.now()}`;
    let app: LegacyApp;
    beforeAll(async () => {
      app = await open();
    });
    // Where a test has failed, they would still move increments during the next.
    afterEach(() => app.killFunctions());
    afterAll(() => app.close());

    test("each increment counts once, though functions and migrate are killed, and again on the way back", async () => {
      const seed = Number(process.env.TALLY_SEED ?? Math.floor(Math.random() * 1e9));
      console.log(`TALLY_SEED=${seed}`);
      const random = randomFor(seed, open.name);
      const [busy, quiet] = await Promise.all([addDocuments(`${run}-busy`, BUSY), addDocuments(`${run}-quiet`, QUIET)]);
      const expected = [...busy, ...quiet];
      const allCount = () => Promise.all([...app.pages, ...app.servers].map((one) => count(one, busy, random)));

      await app.startFunctions([...new Set(busy.map(({ document }) => document))]);
      await Promise.all([allCount(), until(() => app.haveMoved(), "Google's functions to move increments")]);
      await Promise.all([allCount(), killMigrate()]);
      await Promise.all([allCount(), json("migrate", ...MAPS, "--yes")]);
      await Promise.all([allCount(), app.killFunctions()]);
      // What its functions have moved last is in the fields, which no function was told of.
      await json("migrate", ...MAPS, "--yes");
      await allSettle(expected);
      expect(await waiting(expected)).toEqual([]);

      // And back: the fields have all, also what a new app counts meanwhile.
      const writer = client();
      const first = busy[0] as Expected;
      first.total += 30;
      const counting = Array.from({ length: 30 }, () => incrementCounter(counter(writer.db, counterOf(first))));
      await json("migrate", ...MAPS, "--rollback", "--yes");
      await Promise.all(counting);
      await json("migrate", ...MAPS, "--rollback", "--yes");
      const fields = await Promise.all(expected.map(async (one) => `${counterOf(one)}: ${await fieldOf(one)}`));
      expect(fields).toEqual(expected.map((one) => `${counterOf(one)}: ${one.total}`));
      await writer.close();
    });

    test("an old page sees its own increments at once, and never a total without them", async () => {
      const document = `pages/${run}-watched`;
      await admin.doc(document).set({ visits: 40 });
      const [page] = app.pages;
      let acknowledged = 40;
      const shown: number[] = [];
      const lower: string[] = [];
      const stop = page.watch(document, "visits", (total) => {
        shown.push(total);
        // The emulator may send the changes of one commit apart. Then the page shows increments twice for an instant.
        if (total < acknowledged) lower.push(`${total} after increment ${acknowledged}`);
      });
      await until(() => shown.includes(40), "the total so far");
      for (let total = 41; total <= 60; total++) {
        const written = page.increment({ document, field: "visits", by: 1 });
        await until(() => shown.includes(total), `increment ${total} to be shown`);
        await written;
        acknowledged = total;
        await sleep(100);
      }
      await until(async () => (await readPublished(`visits:${run}-watched`))?.total === 60, "the total");
      await until(() => shown.at(-1) === 60, "the page to show it");
      stop();
      expect(lower).toEqual([]);
    });
  });
}
