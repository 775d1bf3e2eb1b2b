/** Watches shard 0 of a counter, which tells what the counter document does not: whether anything waits for a publish. */
import { doc, onSnapshot } from "firebase/firestore";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { LATE_MS } from "./health.ts";
import type { Published } from "./published.ts";
import { writesOf } from "./shardWrites.ts";

export interface Shard0 {
  /** `undefined` until it is read. */
  readonly exists: boolean | undefined;
  /** The earliest known write that is not published: milliseconds since the epoch. Empty without one. */
  readonly writes: readonly number[];
}

const UNKNOWN: Shard0 = { exists: undefined, writes: [] };

/**
 * Cost: nothing while the counter is published again and again. After a pause of 15 s, 1 read, and 1 for each write of shard 0 until the
 * next publish.
 *
 * @param published  `undefined` if the counter has no total
 * @param enabled    whether the server answers, and the visitor sees the page
 */
export function useShard0(
  { db }: Connection,
  id: string,
  published: Published | undefined,
  enabled: boolean,
  now: number,
): Shard0 {
  const publishedAt = published?.publishedAt ?? 0;
  const watches = enabled && now - publishedAt > LATE_MS;
  const [shard, setShard] = useState(UNKNOWN);
  useEffect(() => {
    setShard(UNKNOWN);
    if (!watches) return;
    return onSnapshot(
      doc(db, "counters", id, "shards", "0"),
      (snapshot) => {
        // An empty cache tells nothing.
        if (!snapshot.exists() && snapshot.metadata.fromCache) return;
        const unpublished = writesOf(snapshot).filter((at) => at > publishedAt);
        setShard(({ writes }) => ({
          exists: snapshot.exists(),
          writes: [...writes, ...unpublished].sort((a, b) => a - b).slice(0, 1),
        }));
      },
      // A denied shard means a denied total, which the page reports.
      () => {},
    );
  }, [db, id, publishedAt, watches]);
  return shard;
}
