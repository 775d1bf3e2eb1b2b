/** Counted collections: a counter whose total is the number of documents of a collection, and not the sum of its shards. */
import { countedCollectionOf } from "../../../../core/src/index.ts";
import { finite } from "../../counter/fields.ts";
import type { Feature } from "../../counter/types.ts";
import type { Config } from "../config.ts";
import { collectionsPlan } from "./collectionsPlan.ts";

/** Documents counted for the price of one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const COUNTED_PER_READ = 1_000;

export const collections: Feature = {
  ...collectionsPlan,
  parse(document) {
    const path = document.get("countedCollection");
    const reads = Math.max(finite(document.get("countReads")), 0);
    return { counted: typeof path === "string" ? { path, reads } : null };
  },
  measurer(counterId, firestore, config: Config) {
    const path = countedCollectionOf(counterId, config.counted);
    if (path === undefined) return undefined;
    /** Cost: 1 read per 1,000 documents, at least 1. */
    return async () => {
      const size = await firestore.collection(path).count().get();
      const total = size.data().count;
      const reads = Math.max(Math.ceil(total / COUNTED_PER_READ), 1);
      return { total, writes: 0, asOf: size.readTime, documents: 0, counted: { path, reads } };
    };
  },
  contribute: (_state, { counted }) => ({
    fields: { countedCollection: counted?.path ?? null, countReads: counted?.reads ?? 0 },
  }),
};
