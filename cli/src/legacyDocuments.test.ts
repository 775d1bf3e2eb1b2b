import type { Firestore } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { parseMirrors } from "../../core/src/index.ts";
import { documentsToMove, type LeftAlone } from "./legacyDocuments.ts";

/** A database whose documents `pages/0`, `pages/1` … have a text in the field `visits`, and no legacy shards. */
function databaseOf(count: number): Firestore {
  const documents = Array.from({ length: count }, (_, n) => {
    const ref = { path: `pages/${n}`, n };
    return { ref, get: () => "many" };
  });
  const query = (all: typeof documents, from = 0, size = 0) => ({
    select: () => query(all),
    orderBy: () => query(all),
    limit: (limit: number) => query(all, 0, limit),
    startAfter: (after: { n: number }) => query(all, after.n + 1, size),
    get: async () => ({ docs: all.slice(from, from + size), size: all.slice(from, from + size).length }),
  });
  return { collection: () => query(documents), collectionGroup: () => query([]) } as unknown as Firestore;
}

test("a listing reports each page, and keeps a thousand documents that are left alone, and the number of the others", async () => {
  const leftAlone: LeftAlone = { documents: [], moreDocuments: 0, fields: new Map() };
  let pages = 0;
  const mirrors = parseMirrors("pages/{page}.visits=views:{page}", "--map");
  const listing = documentsToMove(databaseOf(1_300), mirrors, undefined, leftAlone, () => pages++);
  for await (const document of listing) expect.unreachable(`${document} has no number`);
  // Five pages of 300 documents, and an empty one of legacy shards.
  expect(pages).toBe(6);
  expect(leftAlone.documents).toHaveLength(1_000);
  expect(leftAlone.documents[0]).toEqual({ document: "pages/0", reason: 'the field is "many"' });
  expect(leftAlone.moreDocuments).toBe(300);
});
