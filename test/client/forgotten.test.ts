/** What is stored about a user, and what is left when the account is deleted: docs/privacy.md. */

import { inspect } from "node:util";
import { collection, doc } from "firebase/firestore";
import type { CollectionReference, DocumentData, DocumentReference } from "firebase-admin/firestore";
import {
  counter as clientCounter,
  countVisitor,
  incrementCounter,
  takeFromCounter,
  withRateLimit,
} from "firestore-tally";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  counter,
  deleteCounter,
  ensureCounter,
  forgetVisitors,
  getCounter,
  getExactTotal,
  incrementCounter as incrementOnServer,
  rateLimiter,
  resetCounter,
  undoIncrementsOf,
} from "../../admin/src/index.ts";
import { commitTogether, receiptOf } from "../../admin/src/internal.ts";
import { visitorHash } from "../../core/src/index.ts";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { loadRules, OPEN_RULES } from "../../testkit/rules.ts";
import { until } from "../../testkit/until.ts";
import { withLimits } from "../rules/limitedRules.ts";

const project = process.env.GCLOUD_PROJECT as string;
const NOTES = { name: "notes", limit: 2, per: 60_000, burst: 5 };
const MATCH = "match /notes/{note} { allow create: if isWithinLimit('notes', 2, 60000, 5); }";

let page: Client;
let uid: string;
beforeAll(async () => {
  await loadRules(project, withLimits(OPEN_RULES, "true", MATCH));
  page = client();
  uid = await signIn(page);
});
afterAll(async () => {
  await page.close();
  await loadRules(project, OPEN_RULES);
});

/** The bytes of a sketch, as digits. */
const bytesIn = ({ bytes }: DocumentData) => (bytes instanceof Uint8Array ? Buffer.from(bytes).toString("hex") : "");

/** The paths of all documents of the database that name the user, by the uid or its hash. */
async function documentsAbout(...names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const searchDocument = async (document: DocumentReference): Promise<void> => {
    const [stored, parts] = await Promise.all([document.get(), document.listCollections()]);
    const fields = stored.data() ?? {};
    const text = inspect([document.path, fields, bytesIn(fields)], { depth: null, maxArrayLength: null });
    if (names.some((name) => text.includes(name))) found.push(document.path);
    await search(parts);
  };
  // Missing documents are listed, too, if they have collections. At once, because other tests have left thousands.
  const search = async (parts: readonly CollectionReference[]): Promise<void> => {
    const lists = await Promise.all(parts.map((part) => part.listDocuments()));
    await Promise.all(lists.flat().map(searchDocument));
  };
  await search(await admin.listCollections());
  return found.toSorted();
}

test("after a deletion, only what docs/privacy.md names is left of a user, and can be deleted", async () => {
  const [views, likes, tickets, score] = ["views:seen", "likes:seen", "tickets:seen", `score:${uid}`].map((id) =>
    counter(admin, `${id}`),
  );
  if (!views || !likes || !tickets || !score) throw new Error("unreachable");
  const limits = [`tallyLimits/notes/tallyUses/${uid}`, `tallyServerLimits/calls/tallyKeys/${uid}`];
  const here = (ref: { id: string }) => clientCounter(page.db, ref.id);
  await ensureCounter(tickets, { initial: 10, bounded: true });
  await incrementCounter(here(likes), 1, { once: uid });
  await takeFromCounter(here(tickets), 2, { once: uid });
  await incrementOnServer(counter(admin, "orders:seen"), 3, { once: uid });
  await Promise.all([incrementCounter(here(views)), countVisitor(here(views), uid)]);
  await incrementCounter(here(score));
  const note = doc(collection(page.db, "notes"));
  await withRateLimit(note, { ...NOTES, uid }, (batch) => batch.set(note, {}));
  await rateLimiter(admin, "calls", { limit: 5, per: 3_600_000 }).take(uid);
  // An event that the function `ingest` gets.
  const event = { receipt: receiptOf(views, uid), counts: [{ counter: views, by: 1, visitor: uid, item: uid }] };
  await commitTogether([event], Date.now() + 10_000);
  await until(async () => (await getCounter(views)).uniques === 1, "the visitor");

  const hash = await visitorHash(uid);
  /** The emulator's lists may miss a commit for a moment. */
  const eventually = (check: (paths: readonly string[]) => void) =>
    vi.waitFor(async () => check(await documentsAbout(uid, hash)), { timeout: 60_000, interval: 500 });
  const isEntry = (path: string) => path.includes("/tallyEntries/");
  await eventually((paths) => expect(paths.filter(isEntry)).toHaveLength(3));
  await undoIncrementsOf(admin, uid);
  expect(await Promise.all([likes, tickets].map(getExactTotal))).toEqual([0, 10]);
  await eventually((paths) => {
    const ofCounters = paths.filter((path) => path.startsWith("counters/") && !path.includes(score.id));
    // The hash, where visitors wait to be merged, and where they are merged; and the item.
    for (const path of ofCounters)
      expect(path).toMatch(/^counters\/views:seen\/(tallyVisitors\/\w+|tallySketches\/(uniques|topItems))$/);
    const sketches = ["uniques", "topItems"].map((name) => `counters/views:seen/tallySketches/${name}`);
    expect(ofCounters).toEqual(expect.arrayContaining(sketches));
    expect(paths.filter((path) => !path.startsWith("counters/"))).toEqual(limits);
  });

  await forgetVisitors(views);
  await resetCounter(views, 0, { items: true });
  await deleteCounter(score);
  for (const path of limits) await admin.doc(path).delete();
  const receipts = /^counters\/score:[^/]+(\/tallyReceipts\/|$)/;
  await eventually((paths) => expect(paths.filter((path) => !receipts.test(path))).toEqual([]));
});
