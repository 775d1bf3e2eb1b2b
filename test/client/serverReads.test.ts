/**
 * Reads that promise the server's state. The SDK answers a read of a query or document that it listens to from its cache, and adds
 * unsent writes; neither may answer these.
 */
import { globSync, readFileSync } from "node:fs";
import {
  collection,
  type DocumentReference,
  doc,
  documentId,
  increment,
  onSnapshot,
  type Query,
  query,
  setDoc,
  where,
} from "firebase/firestore";
import {
  counter,
  getCounterHistory,
  getCounterRank,
  getExactTotal,
  incrementCounter,
  onCounter,
} from "firestore-tally";
import { afterEach, expect, test } from "vitest";
import { readFromServer } from "../../client/src/web/counter.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { until } from "../../testkit/until.ts";

const open: Client[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function newClient(): Client {
  const one = client();
  open.push(one);
  return one;
}

/** A watched counter of 40, whose shards are listed, because one lacks the indexed fields. */
async function watchedCounter(id: string) {
  const ref = counter(newClient().db, id);
  await admin.doc(`${ref.path}/shards/base`).set({ count: 40 });
  let watched = 0;
  onCounter(ref, ({ total }) => {
    watched = total;
  });
  await until(() => watched === 40, "the watch");
  return ref;
}

test("an exact read has every acknowledged increment while the same client watches the counter", async () => {
  const ref = await watchedCounter("views:exact");
  const exact: number[] = [];
  for (let n = 0; n < 3; n++) {
    await incrementCounter(ref);
    exact.push(await getExactTotal(ref));
  }
  expect(exact).toEqual([41, 42, 43]);
});

test("an exact read has no increment that the server has not", async () => {
  const ref = await watchedCounter("views:unsent");
  const shard = doc(ref.firestore, `${ref.path}/shards/0`);
  await incrementCounter(ref);
  for (let n = 0; n < 5; n++) {
    // The rules refuse it.
    const refused = setDoc(shard, { count: increment(1_000) }, { merge: true });
    const exact = getExactTotal(ref);
    await expect(refused).rejects.toThrow();
    expect(await exact).toBe(41);
  }
});

type Listened = (ref: { firestore: Client["db"]; path: string }) => Query | DocumentReference;
const groupOf = (path: string) => path.slice("counters/".length, path.indexOf(":"));
const shards: Listened = ({ firestore, path }) => collection(firestore, `${path}/shards`);
const hour = "hours-2026-11-20";
const day = new Date("2026-11-20T00:00:00Z");

/** What the app listens to, the write of another client, and the read, which is to be `n` after the write of `n`. */
const reads: Record<
  string,
  [Listened, write: (path: string, n: number) => Promise<unknown>, read: typeof getExactTotal]
> = {
  "getExactTotal, shards in the index": [
    shards,
    (path, n) => admin.doc(`${path}/shards/0`).set({ shard: "0", count: n, writes: n }),
    getExactTotal,
  ],
  "getExactTotal and takeFromCounter, listed shards": [
    shards,
    (path, n) => admin.doc(`${path}/shards/0`).set({ count: n }),
    getExactTotal,
  ],
  "getExactTotal, what the counter counts": [
    ({ firestore, path }) => doc(firestore, path),
    async (path, n) => {
      const counted = `${path}-${n}/shards`;
      for (let each = 0; each < n; each++) await admin.doc(`${counted}/${each}`).set({});
      await admin.doc(path).set({ countedCollection: counted });
    },
    getExactTotal,
  ],
  getCounterHistory: [
    ({ firestore, path }) =>
      query(
        collection(firestore, `${path}/tallyHistory`),
        where(documentId(), ">=", hour),
        where(documentId(), "<=", "hours-2026-11-21"),
      ),
    (path, n) =>
      admin
        .doc(`${path}/tallyHistory/${hour}`)
        .set({ points: { "05": { total: n, asOf: new Date(+day + 20_000_000) } } }),
    async (ref) =>
      (await getCounterHistory(ref, { from: day, to: new Date(+day + 86_400_000), step: "hour" })).at(-1)?.total ?? 0,
  ],
  getCounterRank: [
    ({ firestore, path }) => query(collection(firestore, "counters"), where("group", "==", groupOf(path))),
    async (path, n) => {
      await admin.doc(path).set({ group: groupOf(path), total: 0 });
      for (let each = 1; each < n; each++)
        await admin.doc(`${path}-${each}`).set({ group: groupOf(path), total: each });
    },
    async (ref) => (await getCounterRank(counter(ref.firestore, ref.id))) ?? 0,
  ],
  "entries, marks, limits and shard counts": [
    ({ firestore, path }) => doc(firestore, path),
    (path, n) => admin.doc(path).set({ total: n }),
    async (ref) => (await readFromServer(doc(ref.firestore, ref.path), 1))?.get("total"),
  ],
};

const listeners = Object.entries(reads).flatMap(([name, row]) =>
  [undefined, "cache" as const].map((source) => ({ name, row, source })),
);

test.each(listeners)("beside a listener ($source), from the server: $name", async ({ name, row, source }) => {
  const [listened, write, read] = row;
  const id = `read${Object.keys(reads).indexOf(name)}${source}:own`;
  const ref = counter(newClient().db, id);
  const target = listened(ref);
  const listen = (options: object) =>
    target.type === "document" ? onSnapshot(target, options, () => {}) : onSnapshot(target, options, () => {});
  listen({ source: source ?? "default" });
  for (let n = 1; n <= 3; n++) {
    await write(ref.path, n);
    expect(await read(ref)).toBe(n);
    // What it read may be in the cache now.
    if (source) await new Promise<void>((resolve) => void onSnapshot(target as Query, () => resolve()));
  }
});

test("no other code reads a document or a list from the server", () => {
  const uses = globSync("{client/src/**,core/src}/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\bget(Doc|Docs)FromServer\(/g)].map(([call]) => `${file}: ${call}`),
  );
  expect(uses.sort()).toEqual([
    "client/src/web/counter.ts: getDocsFromServer(",
    // After a refusal by the rules.
    "client/src/web/read.ts: getDocFromServer(",
    // Of an empty cache: only whether there is an answer.
    "client/src/web/top.ts: getDocsFromServer(",
  ]);
});
