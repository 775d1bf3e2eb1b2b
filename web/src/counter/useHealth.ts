/** Watches what tells that the total of a counter is late. */
import { type DocumentSnapshot, doc, onSnapshot, type Timestamp } from "firebase/firestore";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { LATE_MS, type Lateness, latenessOf } from "./health.ts";
import type { Published } from "./published.ts";

export interface Health {
  /** `undefined` if the total is not late, as far as the page knows. */
  readonly lateness: Lateness | undefined;
  /** Whether there is a shard 0; `undefined` while the page has not looked. */
  readonly hasShard: boolean | undefined;
}

/** What shard 0 tells. */
interface Shard {
  readonly exists: boolean;
  /** The earliest known write that is not published; infinite without one. */
  readonly first: number;
}

/**
 * Cost: nothing while the counter is published again and again. After a pause of 12 s, 1 read, and 1 for each write of shard 0 until the
 * next publish.
 *
 * @param published  `undefined` if the counter has no total
 */
export function useHealth(
  { db }: Connection,
  id: string,
  published: Published | undefined,
  visible: boolean,
  now: number,
): Health {
  const publishedAt = published?.publishedAt ?? 0;
  const watches = visible && now - publishedAt > LATE_MS;
  const [shard, setShard] = useState<Shard>();
  useEffect(() => {
    setShard(undefined);
    if (!watches) return;
    return onSnapshot(
      doc(db, "counters", id, "shards", "0"),
      (snapshot) => {
        // An empty cache tells nothing.
        if (!snapshot.exists() && snapshot.metadata.fromCache) return;
        const first = Math.min(...writesOf(snapshot).filter((at) => at > publishedAt));
        setShard((before) => ({ exists: snapshot.exists(), first: Math.min(before?.first ?? Infinity, first) }));
      },
      // Who may not read the shard may not read the total, and the page says so.
      () => {},
    );
  }, [db, id, publishedAt, watches]);
  const timing = published ?? { publishedAt: undefined, nextPollAt: undefined, isCollection: false };
  return { lateness: latenessOf(timing, shard ? [shard.first] : [], now), hasShard: shard?.exists };
}

/** When a shard was written: last, and last in the minute of each slot of its marks. In milliseconds since the epoch. */
export function writesOf(shard: DocumentSnapshot): number[] {
  const marks: Readonly<Record<string, { readonly at: Timestamp | null }>> = shard.get("marks") ?? {};
  const times: readonly (Timestamp | null | undefined)[] = [
    shard.get("at"),
    ...Object.values(marks).map(({ at }) => at),
  ];
  return times.flatMap((at) => at?.toMillis() ?? []);
}
