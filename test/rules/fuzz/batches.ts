/**
 * Random batches: what good clients and vandals mean to do, then spoilt in ways that each break one thing. A batch is
 * made when its turn comes, from the documents as they are then, so that likes, undos and replays find what they need.
 */
import fc from "fast-check";
import {
  FOREIGN_SHARD_IDS,
  integer,
  KEYS,
  marksOf,
  nonceOf,
  noncesOf,
  numberOf,
  type Place,
  SHARD_IDS,
  textOf,
} from "./oracle.ts";
import type { Fields, User, Value, World, Write } from "./rest.ts";

const GESTURES = [
  "increment",
  "toggle",
  "like",
  "unlike",
  "likeBy",
  "likeAs",
  "likeForTwo",
  "unlikeAs",
  "unlikeForTwo",
  "unlikeElsewhere",
  "enter",
  "enterOpen",
  "leave",
  "incrementKeyed",
  "decrementKeyed",
  "tidy",
  "tidyAnd",
  "vandalize",
] as const;

/** Something to do. `pick` decides whatever is left to decide. */
interface Gesture {
  readonly do: (typeof GESTURES)[number];
  readonly shard: string;
  readonly pick: number;
}

export interface Spoil {
  readonly how: string;
  /** Which write it hits. */
  readonly at: number;
  readonly pick: number;
}

export interface Step {
  readonly user: User;
  readonly gestures: readonly Gesture[];
  readonly spoils: readonly Spoil[];
}

/** What a batch is made from. */
export interface Scene extends Place {
  world: World;
  /** The number of the next nonce; grows with each. */
  turn: number;
}

const MAX_WRITES = 4;

/** @returns the writes of a step: one to four, or none if its spoils have dropped them all */
export function makeBatch({ user, gestures, spoils }: Step, scene: Scene): Write[] {
  const writes = gestures.flatMap((gesture) => perform(gesture, user, scene));
  for (const { how, at, pick } of spoils) {
    // The first write, from some one on, that can be spoilt in this way.
    for (let n = 0; n < writes.length; n++) {
      const index = (at + n) % writes.length;
      const write = writes[index] as Write;
      const spoilt = (SPOILS[how] as Spoiler)(write, pick, scene, user);
      if (JSON.stringify(spoilt) === JSON.stringify([write])) continue;
      writes.splice(index, 1, ...spoilt);
      break;
    }
  }
  return writes.slice(0, MAX_WRITES);
}

// ── Gestures ─────────────────────────────────────────────────────────────────────────────────────────────────────

function perform({ do: action, shard, pick }: Gesture, user: User, scene: Scene): Write[] {
  const { open, keyed, world } = scene;
  const key = user ?? "alice";
  const other = choose(KEYS, pick);
  const own = textOf(world[`${keyed}/entries/${key}`]?.shard);
  switch (action) {
    case "increment":
      return [addition(scene, open, shard)];
    case "toggle":
      return own ? undo(scene, key, shard) : like(scene, key, shard);
    case "like":
      return like(scene, key, shard);
    case "unlike":
      return undo(scene, key, shard);
    case "likeBy":
      return like(scene, key, shard, choose(AMOUNTS, pick));
    case "likeAs":
      return like(scene, other, shard);
    case "likeForTwo":
      return [entry(keyed, other, shard), ...like(scene, key, shard)];
    case "unlikeAs":
      return undo(scene, other, shard);
    case "unlikeForTwo":
      return [{ path: `${keyed}/entries/${other}`, delete: true }, ...undo(scene, key, shard)];
    case "unlikeElsewhere":
      return [{ path: `${keyed}/entries/${key}`, delete: true }, addition(scene, keyed, shard, integer(-1))];
    case "enter":
      return [entry(keyed, key, shard)];
    case "enterOpen":
      return [entry(open, key, shard), addition(scene, open, shard)];
    case "leave":
      return [{ path: `${keyed}/entries/${key}`, delete: true }];
    case "incrementKeyed":
      return [addition(scene, keyed, shard)];
    case "decrementKeyed":
      return [addition(scene, keyed, own ?? shard, integer(-1))];
    case "tidy": {
      const path = `${pick % 2 ? open : keyed}/shards/${shard}`;
      const windows = Object.keys(marksOf(world[path]));
      const some = windows.filter((_, n) => pick & (2 << n));
      return [{ path, set: {}, mask: (some.length > 0 ? some : windows).map(maskOf) }];
    }
    case "tidyAnd": {
      // Every window that may go but one, and a change that must not be.
      const path = `${open}/shards/0`;
      const marks = Object.entries(marksOf(world[path]));
      const old = marks.filter(([, window]) => JSON.stringify(window).includes("2020-")).map(([name]) => name);
      const tidied = { path, set: {}, mask: old.slice(1).map(maskOf) };
      const window = { mapValue: { fields: { at: TIMES[0] as Value, nonces: list(fresh(scene)) } } };
      const changes = [
        setField(tidied, "count", integer(pick)),
        setField(tidied, maskOf("c"), window),
        setField(tidied, maskOf("3"), window),
      ];
      return [choose(changes, pick)];
    }
    case "vandalize": {
      const path = choose(scene.paths, pick);
      return pick % 3 === 0 ? [{ path, delete: true }] : [{ path, set: { count: integer(100), total: integer(100) } }];
    }
  }
}

export function like(scene: Scene, key: string, shard: string, by = integer(1)): Write[] {
  return [entry(scene.keyed, key, shard, by), addition(scene, scene.keyed, shard, by)];
}

function addition(scene: Scene, counter: string, shard: string, by = integer(1)): Write {
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
    choose(WINDOWS, scene.turn >> 2),
    [fresh(scene)],
  );
}

export function entry(counter: string, key: string, shard: string, by = integer(1)): Write {
  return {
    path: `${counter}/entries/${key}`,
    set: { by, shard: { stringValue: shard } },
    transforms: [{ fieldPath: "at", setToServerValue: "REQUEST_TIME" }],
  };
}

function undo(scene: Scene, key: string, shard: string): Write[] {
  const path = `${scene.keyed}/entries/${key}`;
  return [{ path, delete: true }, addition(scene, scene.keyed, textOf(scene.world[path]?.shard) ?? shard, integer(-1))];
}

// ── Spoils ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** @returns what becomes of one write of the batch */
type Spoiler = (write: Write, pick: number, scene: Scene, user: User) => Write[];

const text = (stringValue: string): Value => ({ stringValue });
const double = (doubleValue: number | string): Value => ({ doubleValue });
const TIMES = ["2020-01-01T00:00:00Z", "2050-01-01T00:00:00Z"].map((timestampValue) => ({ timestampValue }));
const WRONG = [{ nullValue: null }, text("1"), double("NaN"), double("Infinity"), double("-Infinity"), text("")];
const AMOUNTS = [
  ...[2, 100, -1, -2, 0, 2 ** 53].map(integer),
  ...[1, -1, 0.5, 1e300, "NaN", "Infinity", "-Infinity"].map(double),
];
const SIZES = [0, 1, 3, 5, 24, 5_000].map((size) => ({ bytesValue: Buffer.alloc(size, 1).toString("base64") }));
const BAD_NONCES: Value[] = [...SIZES, text("abcd"), integer(12_345_678), { nullValue: null }, { mapValue: {} }];
const WINDOWS = [..."0123456789abcdef"];
const BAD_WINDOWS = ["g", "10", "-1", "00", "A", "x.y"];

const SPOILS: Record<string, Spoiler> = {
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
  nonce: (write, pick) => [mark(write, choose(WINDOWS, pick), [choose(BAD_NONCES, pick)])],
  "several nonces": (write, pick, scene) => [mark(write, choose(WINDOWS, pick), [fresh(scene), fresh(scene)])],
  "no nonce": (write) => [unmark(write, "nonces")],
  "no time of the window": (write) => [unmark(write, "at")],
  "time of the window": (write, pick) => {
    const [path = "marks.`0`.at"] = markPaths(write, "at");
    return [setField(unmark(write, "at"), path, choose([...TIMES, ...WRONG], pick))];
  },
  window: (write, pick, scene) => [mark(write, choose(BAD_WINDOWS, pick), [fresh(scene)])],
  "another window": (write, pick, scene) => [mark(write, choose(WINDOWS, pick), [fresh(scene)])],
  "no mark": (write) => [unmark(write)],
  "two windows": (write, pick, scene) => {
    const second = mark(write, choose(WINDOWS, pick), [fresh(scene)]).transforms ?? [];
    return [isEntry(write) ? write : { ...write, transforms: [...(write.transforms ?? []), ...second.slice(3)] }];
  },
  "every window": (write, _, scene) => {
    const all = WINDOWS.flatMap((name) => mark(write, name, [fresh(scene)]).transforms?.slice(3) ?? []);
    return [isEntry(write) ? write : { ...unmark(write), transforms: [...(unmark(write).transforms ?? []), ...all] }];
  },
  "nonce of another": (write, pick, { world }) => {
    const marks = Object.entries(marksOf(world[write.path]));
    const held = marks.flatMap(([name, window]) => noncesOf(window).map((nonce) => [name, nonce] as const));
    if (held.length === 0) return [write];
    const [name, nonce] = choose(held, pick);
    return [mark(write, pick % 2 ? name : choose(WINDOWS, pick), [nonce])];
  },
  "nonces replaced": (write, pick, scene) => {
    const held = Object.keys(marksOf(scene.world[write.path]));
    const window = { at: { timestampValue: new Date().toISOString() }, nonces: list(fresh(scene)) };
    const name = held.length > 0 ? choose(held, pick) : "0";
    return [setField(unmark(write), maskOf(name), { mapValue: { fields: window } })];
  },
  "nonces replaced, with the server's time": (write, pick, scene) => {
    const held = Object.keys(marksOf(scene.world[write.path]));
    const name = held.length > 0 ? choose(held, pick) : "0";
    const marked = setField(unmark(write), `${maskOf(name)}.nonces`, list(fresh(scene)));
    return [transform(marked, `${maskOf(name)}.at`, { setToServerValue: "REQUEST_TIME" })];
  },
  "nonces moved, with a new one": (write, pick, scene) => {
    const held = Object.entries(marksOf(scene.world[write.path]));
    if (held.length === 0) return [write];
    const [name, window] = choose(held, pick);
    const nonces =
      pick % 2 ? [fresh(scene), ...noncesOf(window)] : [...noncesOf(window).slice(1), fresh(scene), fresh(scene)];
    const marked = setField(unmark(write), `${maskOf(name)}.nonces`, list(...nonces));
    return [transform(marked, `${maskOf(name)}.at`, { setToServerValue: "REQUEST_TIME" })];
  },
  "window with a foreign field": (write, pick) => {
    const [path = "marks.`0`.at"] = markPaths(write, "at");
    return [setField(write, path.replace(/at$/, "extra"), integer(pick))];
  },
  "window removed": (write, pick, { world }) => {
    const held = Object.keys(marksOf(world[write.path]));
    return [{ ...write, mask: [...(write.mask ?? []), maskOf(held.length > 0 ? choose(held, pick) : "0")] }];
  },
  "all windows removed": (write, _, { world }) => [
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
  "twice with marks of their own": (write, _, scene) => [write, remark(write, scene)],
  "and back": (write, _, scene) => [write, transform(remark(write, scene), "count", { increment: integer(-1) })],
  dropped: () => [],
  "in two writes": ({ transforms, ...write }) => [write, transforms ? { path: write.path, transforms } : write],
  "set, then deleted": (write) => [write, { path: write.path, delete: true }],
  "deleted, then set": (write) => [{ path: write.path, delete: true }, write],
  "other shard": (write, pick) => [
    { ...write, path: write.path.replace(/(?<=shards\/).*/, choose([...SHARD_IDS, ...FOREIGN_SHARD_IDS], pick)) },
  ],
  "other counter": (write, _, { open, keyed }) => [
    { ...write, path: write.path.replace(/^counters\/[^/]+/, (counter) => (counter === open ? keyed : open)) },
  ],
  "other key": (write, pick) => [{ ...write, path: write.path.replace(/(?<=entries\/).*/, choose(KEYS, pick)) }],
  "another's, too": (write, pick) => [
    write,
    ...(isEntry(write) ? [{ ...write, path: write.path.replace(/[^/]+$/, choose(KEYS, pick)) }] : []),
  ],
  "entry's amount": (write, pick) => [setEntry(write, "by", choose([...AMOUNTS, ...WRONG], pick))],
  "entry's shard": (write, pick) => [
    setEntry(
      write,
      "shard",
      choose([...[...SHARD_IDS, ...FOREIGN_SHARD_IDS].map(text), integer(0), ...WRONG] as Value[], pick),
    ),
  ],
  "entry's time": (write, pick) => [setEntry(write, "at", choose([...TIMES, ...WRONG], pick))],
  "undone on the other shard": (write, pick, scene, user) => [
    write,
    { path: `${scene.keyed}/entries/${user}`, delete: true },
    addition(scene, scene.keyed, choose(SHARD_IDS, pick), integer(-1)),
  ],
};

function isEntry({ path }: Write): boolean {
  return path.includes("/entries/");
}

/** Replaces a transform, or drops it. Entries have but one, of `at`. */
function transform(write: Write, field: string, by?: object): Write {
  if (isEntry(write) && field !== "at") return write;
  const others = (write.transforms ?? []).filter(({ fieldPath }) => fieldPath !== field);
  return write.delete ? write : { ...write, transforms: [...others, ...(by ? [{ fieldPath: field, ...by }] : [])] };
}

/** Sets a field, which may be one of a map, to a value, where it may have been transformed. */
function setField(write: Write, field: string, value: Value): Write {
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

function setEntry(write: Write, field: string, value: Value): Write {
  return isEntry(write) ? setField(write, field, value) : write;
}

/** Leaves a mark in a window, and no other. */
function mark(write: Write, window: string, nonces: Value[]): Write {
  if (write.delete || isEntry(write)) return write;
  const { transforms = [], ...rest } = unmark(write);
  return {
    ...rest,
    transforms: [
      ...transforms,
      { fieldPath: `${maskOf(window)}.at`, setToServerValue: "REQUEST_TIME" },
      { fieldPath: `${maskOf(window)}.nonces`, appendMissingElements: { values: nonces } },
    ],
  };
}

/** Leaves no mark, or a part of one. */
function unmark(write: Write, part = ""): Write {
  if (write.delete || isEntry(write) || !write.transforms) return write;
  const paths = markPaths(write, part);
  return { ...write, transforms: write.transforms.filter(({ fieldPath }) => !paths.includes(fieldPath)) };
}

function markPaths({ transforms = [] }: Write, part: string): string[] {
  const paths = transforms.map(({ fieldPath }) => fieldPath);
  return paths.filter((path) => path.startsWith("marks.") && path.endsWith(part));
}

function maskOf(window: string): string {
  return `marks.\`${window}\``;
}

/** The same increment once more, with the next nonce. */
function remark(write: Write, scene: Scene): Write {
  return mark(write, choose(WINDOWS, scene.turn), [fresh(scene)]);
}

function fresh(scene: Scene): Value {
  return nonceOf(scene.turn++);
}

function list(...values: Value[]): Value {
  return { arrayValue: { values } };
}

function choose<T>(from: readonly T[], pick: number): T {
  return from[pick % from.length] as T;
}

// ── Chance ───────────────────────────────────────────────────────────────────────────────────────────────────────

const pick = fc.nat(9_999);
const good = fc.constantFrom<(typeof GESTURES)[number]>("increment", "toggle", "toggle");
const anything = fc.constantFrom(...GESTURES);
const shard = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...SHARD_IDS) },
  { weight: 1, arbitrary: fc.constantFrom(...FOREIGN_SHARD_IDS) },
);

const gesture: fc.Arbitrary<Gesture> = fc.record({
  do: fc.oneof({ weight: 3, arbitrary: good }, { weight: 2, arbitrary: anything }),
  shard,
  pick,
});

const spoil: fc.Arbitrary<Spoil> = fc.record({ how: fc.constantFrom(...Object.keys(SPOILS)), at: fc.nat(3), pick });

/** Some batches are as their gestures are; the others are spoilt once or twice. */
export const anyStep: fc.Arbitrary<Step> = fc.record({
  user: fc.constantFrom<User>("alice", "alice", "alice", "bob", "bob", "bob", null),
  gestures: fc.oneof(
    { weight: 3, arbitrary: fc.array(gesture, { minLength: 1, maxLength: 1 }) },
    { weight: 2, arbitrary: fc.array(gesture, { minLength: 2, maxLength: 3 }) },
  ),
  spoils: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(spoil, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(spoil, { minLength: 2, maxLength: 2 }) },
  ),
});
