/** When clients have written a shard. */
import type { DocumentSnapshot } from "firebase/firestore";
import { millisOf } from "./published.ts";

/** The last write, and the last one in the minute of each slot of its marks: milliseconds since the epoch. */
export function writesOf(shard: DocumentSnapshot): number[] {
  const marks: Readonly<Record<string, { readonly at?: unknown } | null>> = shard.get("marks") ?? {};
  return [shard.get("at"), ...Object.values(marks).map((mark) => mark?.at)].flatMap((at) => millisOf(at) ?? []);
}
