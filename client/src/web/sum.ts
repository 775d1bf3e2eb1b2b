/** Sums the shards of a counter, by the index where it serves. */

import { collection, count, getAggregateFromServer, getCountFromServer, orderBy, query, sum } from "firebase/firestore";
import { exactSum, shardsPath } from "../../../core/src/index.ts";
import { type CounterRef, hasCode, listFromServer } from "./counter.ts";

/**
 * The sum of the shards at the instant of one query. A query beside it counts the documents, to notice those outside the index. The
 * web SDK cannot give both the same instant; if a shard was created or folded between the two, the shards are listed.
 *
 * Cost: 2 reads, and 2 more for each further 1,000 shards; 1 read per shard more if they are listed.
 *
 * @throws CounterError `counter/overflow`
 */
export async function sumShards({ firestore, path, id }: CounterRef): Promise<number> {
  const shards = collection(firestore, shardsPath(path));
  const indexed = query(shards, orderBy("shard"));
  const [sums, all] = await Promise.all([
    // Both fields are summed, so that the one index serves.
    getAggregateFromServer(indexed, { total: sum("count"), writes: sum("writes"), documents: count() }).catch(
      rethrowUnlessUnsupported,
    ),
    getCountFromServer(shards).catch(rethrowUnlessUnsupported),
  ]);
  const summed = sums?.data();
  // Of no number, the sum is null on Firestore's Enterprise edition.
  if (summed && summed.documents === all?.data().count) return exactSum(id, [summed.total]);
  const listed = await listFromServer(shards);
  return exactSum(
    id,
    listed.docs.map((shard) => shard.get("count")),
  );
}

/** The index may be missing. To browsers, the emulator refuses aggregations below a counter with a colon in its id. */
function rethrowUnlessUnsupported(error: unknown): void {
  if (!hasCode(error, "failed-precondition") && !hasCode(error, "invalid-argument")) throw error;
}
