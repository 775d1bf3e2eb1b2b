/** Valid writes of a batch, and edits of single writes. */

import type { Fields, Value, World, Write } from "../rest.ts";
import { BUCKETS, type Counters } from "./oracle.ts";
import { integer, nonceOf, textOf } from "./values.ts";

/** The counters and the documents that a batch is made for. */
export interface BatchContext extends Counters {
  world: World;
  nextNonce: number;
  /** As of the database. */
  readonly documents: string;
}

export const SLOTS = [..."01234"];

export const text = (stringValue: string): Value => ({ stringValue });

export function like(context: BatchContext, once: string, shard: string, by = integer(1)): Write[] {
  return [entry(context.perUser, once, shard, by), incrementWrite(context, context.perUser, shard, by)];
}

export function incrementWrite(context: BatchContext, counter: string, shard: string, by = integer(1)): Write {
  return mark(
    {
      path: `${counter}/shards/${shard}`,
      set: { shard: text(shard) },
      mask: ["shard"],
      transforms: [
        { fieldPath: "count", increment: by },
        { fieldPath: "writes", increment: integer(1) },
        { fieldPath: "at", setToServerValue: "REQUEST_TIME" },
      ],
    },
    choose(SLOTS, context.nextNonce >> 2),
    [newNonce(context)],
  );
}

/** @param pick  chooses the bucket of one digit, mostly, that of two, or another */
export function visitWrite(counter: string, hash: string, pick: number): Write {
  const bucket = choose([hash.slice(0, 1), hash.slice(0, 1), hash.slice(0, 2), choose(BUCKETS, pick)], pick);
  return {
    path: `${counter}/tallyVisitors/${bucket}`,
    set: {},
    mask: [],
    transforms: [{ fieldPath: "visitors", appendMissingElements: { values: [text(hash)] } }],
  };
}

export function entry(counter: string, once: string, shard: string, by = integer(1)): Write {
  return {
    path: `${counter}/tallyEntries/${once}`,
    set: { once: text(once), by, shard: text(shard) },
    transforms: [{ fieldPath: "at", setToServerValue: "REQUEST_TIME" }],
  };
}

export function unlike(context: BatchContext, once: string, shard: string): Write[] {
  const path = `${context.perUser}/tallyEntries/${once}`;
  return [
    { path, delete: true },
    incrementWrite(context, context.perUser, textOf(context.world[path]?.shard) ?? shard, integer(-1)),
  ];
}

export function isEntry({ path }: Write): boolean {
  return path.includes("/tallyEntries/");
}

/** Replaces a transform, or drops it. Entries have but one, of `at`. */
export function transform(write: Write, field: string, by?: object): Write {
  if (isEntry(write) && field !== "at") return write;
  const others = (write.transforms ?? []).filter(({ fieldPath }) => fieldPath !== field);
  return write.delete ? write : { ...write, transforms: [...others, ...(by ? [{ fieldPath: field, ...by }] : [])] };
}

/** Sets a field, which may be one of a map, to a value, where it may have been transformed. */
export function setField(write: Write, field: string, value: Value): Write {
  if (write.delete || !write.set) return write;
  const { mask, ...rest } = transform(write, field);
  const segments = field.split(".").map((segment) => segment.replaceAll("`", ""));
  const kept = mask?.filter((path) => path.replaceAll("`", "") !== segments.join("."));
  const path = field.includes("`") || segments.length > 1 ? field : `\`${field}\``;
  return { ...rest, set: nested(write.set, segments, value), ...(kept && { mask: [...kept, path] }) };
}

function nested(fields: Fields, [first = "", ...others]: string[], value: Value): Fields {
  if (others.length === 0) return { ...fields, [first]: value };
  const inner = (fields[first]?.mapValue as { fields?: Fields } | undefined)?.fields ?? {};
  return { ...fields, [first]: { mapValue: { fields: nested(inner, others, value) } } };
}

export function setEntry(write: Write, field: string, value: Value): Write {
  return isEntry(write) ? setField(write, field, value) : write;
}

/** Leaves a mark in a slot, and no other. */
export function mark(write: Write, slot: string, nonces: Value[]): Write {
  if (write.delete || isEntry(write)) return write;
  const { transforms = [], ...rest } = withoutMark(write);
  return {
    ...rest,
    transforms: [
      ...transforms,
      { fieldPath: `${maskOf(slot)}.at`, setToServerValue: "REQUEST_TIME" },
      { fieldPath: `${maskOf(slot)}.nonces`, appendMissingElements: { values: nonces } },
    ],
  };
}

/** Leaves no mark, or a part of one. */
export function withoutMark(write: Write, part = ""): Write {
  if (write.delete || isEntry(write) || !write.transforms) return write;
  const paths = markPaths(write, part);
  return { ...write, transforms: write.transforms.filter(({ fieldPath }) => !paths.includes(fieldPath)) };
}

export function markPaths({ transforms = [] }: Write, part: string): string[] {
  const paths = transforms.map(({ fieldPath }) => fieldPath);
  return paths.filter((path) => path.startsWith("marks.") && path.endsWith(part));
}

export function maskOf(slot: string): string {
  return `marks.\`${slot}\``;
}

/** The same increment once more, with the next nonce. */
export function withNewNonce(write: Write, context: BatchContext): Write {
  return mark(write, choose(SLOTS, context.nextNonce), [newNonce(context)]);
}

export function newNonce(context: BatchContext): Value {
  return nonceOf(context.nextNonce++);
}

export function list(...values: Value[]): Value {
  return { arrayValue: { values } };
}

export function choose<T>(from: readonly T[], pick: number): T {
  return from[pick % from.length] as T;
}
