/** Corruptions of a write. Each violates one rule, or tests its limits. */

import type { User, Value, Write } from "../rest.ts";
import { FOREIGN_SHARD_IDS, SHARD_IDS } from "./oracle.ts";
import { integer, marksOf, noncesOf, numberOf, UIDS } from "./values.ts";
import {
  type BatchContext,
  choose,
  incrementWrite,
  isEntry,
  list,
  mark,
  markPaths,
  maskOf,
  newNonce,
  SLOTS,
  setEntry,
  setField,
  text,
  transform,
  withNewNonce,
  withoutMark,
} from "./writes.ts";

export interface Corruption {
  readonly how: string;
  /** Index of the write that it changes. */
  readonly at: number;
  readonly pick: number;
}

/** @returns the writes that replace one write of a batch */
export type Corrupt = (write: Write, pick: number, context: BatchContext, user: User) => Write[];

const double = (doubleValue: number | string): Value => ({ doubleValue });
export const TIMES = ["2020-01-01T00:00:00Z", "2050-01-01T00:00:00Z"].map((timestampValue) => ({ timestampValue }));
const WRONG = [{ nullValue: null }, text("1"), double("NaN"), double("Infinity"), double("-Infinity"), text("")];
export const AMOUNTS = [
  ...[2, 100, -1, -2, 0, 2 ** 53].map(integer),
  ...[1, -1, 0.5, 1e300, "NaN", "Infinity", "-Infinity"].map(double),
];
const SIZES = [0, 1, 4, 6, 24, 5_000].map((size) => ({ bytesValue: Buffer.alloc(size, 1).toString("base64") }));
const BAD_NONCES: Value[] = [...SIZES, text("abcd"), integer(12_345_678), { nullValue: null }, { mapValue: {} }];
const BAD_SLOTS = ["5", "10", "-1", "00", "A", "x.y"];

export const CORRUPTIONS: Record<string, Corrupt> = {
  amount: (write, pick) => [transform(write, "count", { increment: choose(AMOUNTS, pick) })],
  "amount as maximum": (write, pick) => [transform(write, "count", { maximum: integer(pick) })],
  "amount as value": (write, pick) => [setField(write, "count", choose([...WRONG, ...AMOUNTS], pick))],
  "amount as value, rightly": (write, _, { world }) => [
    setField(write, "count", integer((numberOf(world[write.path]?.count) ?? 0) + 1)),
  ],
  "no amount": (write) => [transform(write, "count")],
  writes: (write, pick) => [transform(write, "writes", { increment: choose(AMOUNTS, pick) })],
  "writes as value": (write, pick) => [setField(write, "writes", choose([...WRONG, ...AMOUNTS], pick))],
  "writes as a double": (write) => [transform(write, "writes", { increment: double(1) })],
  "no writes": (write) => [transform(write, "writes")],
  time: (write, pick) => [setField(write, "at", choose([...TIMES, ...WRONG], pick))],
  "no time": (write) => [transform(write, "at")],
  nonce: (write, pick) => [mark(write, choose(SLOTS, pick), [choose(BAD_NONCES, pick)])],
  "several nonces": (write, pick, context) => [
    mark(write, choose(SLOTS, pick), [newNonce(context), newNonce(context)]),
  ],
  "no nonce": (write) => [withoutMark(write, "nonces")],
  "no time of the slot": (write) => [withoutMark(write, "at")],
  "time of the slot": (write, pick) => {
    const [path = "marks.`0`.at"] = markPaths(write, "at");
    return [setField(withoutMark(write, "at"), path, choose([...TIMES, ...WRONG], pick))];
  },
  slot: (write, pick, context) => [mark(write, choose(BAD_SLOTS, pick), [newNonce(context)])],
  "another slot": (write, pick, context) => [mark(write, choose(SLOTS, pick), [newNonce(context)])],
  "no mark": (write) => [withoutMark(write)],
  "two slots": (write, pick, context) => {
    // Two that the shard has differ least from an honest write.
    const held = Object.keys(marksOf(context.world[write.path]));
    const [first, second] = held.length > 1 ? [held[0], choose(held.slice(1), pick)] : ["0", choose(SLOTS, pick)];
    const marked = mark(write, first as string, [newNonce(context)]);
    const more = mark(write, second as string, [newNonce(context)]).transforms ?? [];
    return [isEntry(write) ? write : { ...marked, transforms: [...(marked.transforms ?? []), ...more.slice(3)] }];
  },
  "every slot": (write, _, context) => {
    const all = SLOTS.flatMap((name) => mark(write, name, [newNonce(context)]).transforms?.slice(3) ?? []);
    return [
      isEntry(write)
        ? write
        : { ...withoutMark(write), transforms: [...(withoutMark(write).transforms ?? []), ...all] },
    ];
  },
  "nonce of another": (write, pick, { world }) => {
    const marks = Object.entries(marksOf(world[write.path]));
    const held = marks.flatMap(([name, slot]) => noncesOf(slot).map((nonce) => [name, nonce] as const));
    if (held.length === 0) return [write];
    const [name, nonce] = choose(held, pick);
    return [mark(write, pick % 2 ? name : choose(SLOTS, pick), [nonce])];
  },
  "nonces replaced": (write, pick, context) => {
    const held = Object.keys(marksOf(context.world[write.path]));
    const slot = { at: { timestampValue: new Date().toISOString() }, nonces: list(newNonce(context)) };
    const name = held.length > 0 ? choose(held, pick) : "0";
    return [setField(withoutMark(write), maskOf(name), { mapValue: { fields: slot } })];
  },
  "nonces replaced, with the server's time": (write, pick, context) => {
    const held = Object.keys(marksOf(context.world[write.path]));
    const name = held.length > 0 ? choose(held, pick) : "0";
    const marked = setField(withoutMark(write), `${maskOf(name)}.nonces`, list(newNonce(context)));
    return [transform(marked, `${maskOf(name)}.at`, { setToServerValue: "REQUEST_TIME" })];
  },
  "nonces moved, with a new one": (write, pick, context) => {
    const held = Object.entries(marksOf(context.world[write.path]));
    if (held.length === 0) return [write];
    const [name, slot] = choose(held, pick);
    const nonces =
      pick % 2
        ? [newNonce(context), ...noncesOf(slot)]
        : [...noncesOf(slot).slice(1), newNonce(context), newNonce(context)];
    const marked = setField(withoutMark(write), `${maskOf(name)}.nonces`, list(...nonces));
    return [transform(marked, `${maskOf(name)}.at`, { setToServerValue: "REQUEST_TIME" })];
  },
  "slot with a foreign field": (write, pick) => {
    const [path = "marks.`0`.at"] = markPaths(write, "at");
    return [setField(write, path.replace(/at$/, "extra"), integer(pick))];
  },
  "slot removed": (write, pick, { world }) => {
    const held = Object.keys(marksOf(world[write.path]));
    return [{ ...write, mask: [...(write.mask ?? []), maskOf(held.length > 0 ? choose(held, pick) : "0")] }];
  },
  "all slots removed": (write, _, { world }) => [
    { ...write, mask: [...(write.mask ?? []), ...Object.keys(marksOf(world[write.path])).map(maskOf)] },
  ],
  "marks replaced": (write) => [{ ...write, mask: [...(write.mask ?? []), "marks"] }],
  "shard named otherwise": (write, pick) => [
    setField(write, "shard", choose([text("1"), text("0"), integer(0), ...WRONG], pick)),
  ],
  "shard not named": (write) => [
    isEntry(write) || !write.set
      ? write
      : { ...write, set: {}, mask: (write.mask ?? []).filter((it) => it !== "shard") },
  ],
  "marks that are none": (write, pick) => [setField(write, "marks", choose(WRONG, pick))],
  "foreign field": (write, pick) => [setField(write, choose(["extra", "total", "by", "count.x"], pick), integer(1))],
  "whole document": ({ mask: _, ...write }) => [write],
  precondition: (write, pick) => [{ ...write, precondition: { exists: pick % 2 === 0 } }],
  delete: ({ path }) => [{ path, delete: true }],
  twice: (write) => [write, write],
  "twice with marks of their own": (write, _, context) => [write, withNewNonce(write, context)],
  "and back": (write, _, context) => [
    write,
    transform(withNewNonce(write, context), "count", { increment: integer(-1) }),
  ],
  dropped: () => [],
  "in two writes": ({ transforms, ...write }) => [write, transforms ? { path: write.path, transforms } : write],
  "set, then deleted": (write) => [write, { path: write.path, delete: true }],
  "deleted, then set": (write) => [{ path: write.path, delete: true }, write],
  "other shard": (write, pick) => [
    { ...write, path: write.path.replace(/(?<=shards\/).*/, choose([...SHARD_IDS, ...FOREIGN_SHARD_IDS], pick)) },
  ],
  "other counter": (write, _, { open, perUser }) => [
    { ...write, path: write.path.replace(/^counters\/[^/]+/, (counter) => (counter === open ? perUser : open)) },
  ],
  "other entry": (write, pick) => [{ ...write, path: write.path.replace(/(?<=entries\/).*/, choose(UIDS, pick)) }],
  "another's, too": (write, pick) => [
    write,
    ...(isEntry(write) ? [{ ...write, path: write.path.replace(/[^/]+$/, choose(UIDS, pick)) }] : []),
  ],
  "entry's once": (write, pick) => [setEntry(write, "once", choose([...UIDS.map(text), ...WRONG], pick))],
  "entry's amount": (write, pick) => [setEntry(write, "by", choose([...AMOUNTS, ...WRONG], pick))],
  "entry's shard": (write, pick) => [
    setEntry(
      write,
      "shard",
      choose([...[...SHARD_IDS, ...FOREIGN_SHARD_IDS].map(text), integer(0), ...WRONG] as Value[], pick),
    ),
  ],
  "entry's time": (write, pick) => [setEntry(write, "at", choose([...TIMES, ...WRONG], pick))],
  "undone on the other shard": (write, pick, context, user) => [
    write,
    { path: `${context.perUser}/tallyEntries/${user}`, delete: true },
    incrementWrite(context, context.perUser, choose(SHARD_IDS, pick), integer(-1)),
  ],
};
