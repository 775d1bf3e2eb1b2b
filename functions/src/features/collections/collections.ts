/** Counted collections: a counter whose total is the number of documents of a collection, and not the sum of its shards. */
import { countedCollectionOf } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { toMillis } from "../../counter/time.ts";
import { createWakeHandler } from "../../counter/wake.ts";
import { type DocumentEvent, defineFeature } from "../../shared/feature.ts";
import { collectionsPlan } from "./collectionsPlan.ts";
import { collectionEvent, latestDeletionTime } from "./events.ts";

/** Documents counted for the price of one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const COUNTED_PER_READ = 1_000;

export const collections = defineFeature({
  ...collectionsPlan,
  onDocument: { documentcreated: createHandler, documentdeleted: createHandler },
  measureInstead(counterId, firestore, config) {
    const path = countedCollectionOf(counterId, config.collections);
    if (path === undefined) return undefined;
    /** Cost: 1 read per 1,000 documents, at least 1. */
    return async () => {
      const size = await firestore.collection(path).count().get();
      const total = size.data().count;
      const reads = Math.max(Math.ceil(total / COUNTED_PER_READ), 1);
      return { total, writes: 0, asOf: size.readTime, documents: 0, collectionCount: { path, reads } };
    };
  },
});

function createHandler(backend: Backend) {
  const wake = createWakeHandler(backend);
  return async ({ before, after, time }: DocumentEvent) => {
    const document = after ?? before;
    if (!document) return;
    const committedAt = after?.updateTime ? toMillis(after.updateTime) : latestDeletionTime(time, backend.now());
    const event = collectionEvent(document.ref.parent.path, committedAt, backend.config.collections);
    if (event) await wake(event);
  };
}
