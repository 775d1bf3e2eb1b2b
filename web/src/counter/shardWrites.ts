/** When clients have written a shard. */
import type { DocumentSnapshot, Timestamp } from "firebase/firestore";

/** The last write, and the last one in the minute of each slot of its marks: milliseconds since the epoch. */
export function writesOf(shard: DocumentSnapshot): number[] {
  const marks: Readonly<Record<string, { readonly at: Timestamp | null }>> = shard.get("marks") ?? {};
  const times: readonly (Timestamp | null | undefined)[] = [
    shard.get("at"),
    ...Object.values(marks).map(({ at }) => at),
  ];
  return times.flatMap((at) => at?.toMillis() ?? []);
}
