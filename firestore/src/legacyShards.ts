/**
 * Legacy shards: the shards of Google's counter, as its clients and functions write them. testkit/legacy/README.md describes
 * their format.
 */
import { FieldPath, FieldValue, type QueryDocumentSnapshot, type WriteBatch } from "firebase-admin/firestore";
import { type MirrorSource, sumOfCounts } from "../../core/src/index.ts";
import { unchanged } from "./precondition.ts";

/** The subcollection that its clients write to: one document per client, which maps fields of the parent to sums. */
export const LEGACY_SHARDS = "_counter_shards_";

/** How many paths of unmapped numbers one shard reports, since clients choose the names of fields. */
const MAX_UNMAPPED = 10;

/** Whether a value is an amount that can be moved: a number in whose range sums are exact. Clients may write any number. */
export function isAmount(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Whether a value is a map, and not a timestamp, a reference or a list. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A partial shard holds a list of sums; the functions of Google's counter append to it. */
interface PartialUpdate {
  readonly _id_: string;
  readonly _data_: Record<string, unknown>;
}

function isPartial({ id }: QueryDocumentSnapshot): boolean {
  return id.startsWith("\t");
}

/** The increments in a shard: one map of fields, or those of a partial shard. */
function sumsIn(shard: QueryDocumentSnapshot): readonly unknown[] {
  if (!isPartial(shard)) return [shard.data()];
  const updates: unknown = shard.get("_updates_");
  return Array.isArray(updates) ? updates.map((update: Partial<PartialUpdate> | null) => update?._data_) : [];
}

function valueAt(data: unknown, field: readonly string[]): unknown {
  return field.reduce<unknown>(
    (value, name) => (isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    data,
  );
}

/** What a shard adds to a field; `undefined` if nothing. */
export function amountIn(shard: QueryDocumentSnapshot, field: readonly string[]): number | undefined {
  const amounts = sumsIn(shard)
    .map((data) => valueAt(data, field))
    .filter(isAmount);
  return amounts.length === 0 ? undefined : sumOfCounts(amounts);
}

/** Removes the fields from a shard, and the shard if nothing else is in it. */
export function removeFields(batch: WriteBatch, shard: QueryDocumentSnapshot, fields: readonly MirrorSource[]): void {
  const precondition = unchanged(shard);
  const rest = sumsIn(shard).map((data) => without(data, fields));
  if (rest.every((data) => data === undefined)) batch.delete(shard.ref, precondition);
  else if (isPartial(shard)) {
    const updates = (shard.get("_updates_") as readonly PartialUpdate[]).flatMap((update, index) =>
      rest[index] === undefined ? [] : [{ ...update, _data_: rest[index] }],
    );
    batch.update(shard.ref, { _updates_: updates }, precondition);
  } else {
    const [first, ...more] = fields
      .filter(({ field }) => amountIn(shard, field) !== undefined)
      .map(({ field }) => new FieldPath(...field));
    const removals = more.flatMap((path) => [path, FieldValue.delete()]);
    batch.update(shard.ref, first as FieldPath, FieldValue.delete(), ...removals, precondition);
  }
}

/** A copy without the numbers at the fields; `undefined` if nothing is left. */
function without(data: unknown, fields: readonly MirrorSource[], path: readonly string[] = []): unknown {
  const isHere = ({ field }: MirrorSource) =>
    field.length === path.length && field.every((name, i) => name === path[i]);
  if (isAmount(data) && fields.some(isHere)) return undefined;
  if (!isMap(data)) return data;
  const entries = Object.entries(data).map(([name, value]) => [name, without(value, fields, [...path, name])]);
  const left = entries.filter(([, value]) => value !== undefined);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** Paths of the first numbers in a shard that none of the fields names. */
export function unmappedNumbers(shard: QueryDocumentSnapshot, fields: readonly MirrorSource[]): string[] {
  const paths = (data: unknown, path: string): string[] => {
    if (typeof data === "number") return [path];
    if (!isMap(data)) return [];
    const some = Object.entries(data).slice(0, MAX_UNMAPPED);
    return some.flatMap(([name, value]) => paths(value, path ? `${path}.${name}` : name)).slice(0, MAX_UNMAPPED);
  };
  return sumsIn(shard)
    .slice(0, MAX_UNMAPPED)
    .flatMap((data) => paths(without(data, fields), ""))
    .slice(0, MAX_UNMAPPED);
}
