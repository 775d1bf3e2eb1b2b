/** Legacy shards: where the clients of Google's counter write, and the sums by field in a shard (testkit/legacy/README.md). */
import type { DocumentSnapshot } from "firebase-admin/firestore";

export const LEGACY_SHARDS = "_counter_shards_";

/** Numbers by field, nested as the fields are. */
export interface Sums {
  [name: string]: number | Sums;
}

/** The value of one field, given by its path with dots. */
export function nested<Value>(field: string, value: Value): Record<string, unknown> {
  return field.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>;
}

function isPartial({ id }: { readonly id: string }): boolean {
  return id.startsWith("\t");
}

/** The sums of some shards, partial ones included, times a factor. */
export function sumsIn(shards: readonly DocumentSnapshot[], factor = 1): Sums {
  const maps = shards.flatMap((shard) =>
    isPartial(shard)
      ? ((shard.get("_updates_") ?? []) as { readonly _data_: unknown }[]).map(({ _data_ }) => _data_)
      : [shard.data()],
  );
  const sums: Sums = {};
  for (const map of maps) addNumbers(sums, map, factor);
  return sums;
}

/** What the fields become if sums are added to a document's data. The other fields of the document are left out. */
export function addedTo(data: unknown, sums: Sums): Sums {
  const before = isMap(data) ? data : {};
  const entries = Object.entries(sums).map(([name, sum]) => {
    const value = before[name];
    if (typeof sum !== "number") return [name, addedTo(value, sum)];
    return [name, typeof value === "number" ? value + sum : sum];
  });
  return Object.fromEntries(entries);
}

export function areZero(sums: Sums): boolean {
  return Object.values(sums).every((sum) => (typeof sum === "number" ? sum === 0 : areZero(sum)));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Other values than numbers do not count. */
function addNumbers(sums: Sums, from: unknown, factor: number): void {
  if (!isMap(from)) return;
  for (const [name, value] of Object.entries(from)) {
    const sum = sums[name] ?? 0;
    if (typeof value === "number") sums[name] = (typeof sum === "number" ? sum : 0) + factor * value;
    if (!isMap(value)) continue;
    const inner: Sums = typeof sum === "number" ? {} : sum;
    addNumbers(inner, value, factor);
    sums[name] = inner;
  }
}
