/** Increments in counter documents, and ways to write what one must not. */
import { DIRECT_WINDOWS } from "../../../core/src/index.ts";
import type { Fields, Value, Write } from "../rest.ts";
import { BAD_NONCES, TIMES } from "./corruptions.ts";
import { directOf, isOver, windowName } from "./directOracle.ts";
import { limitFor } from "./uses.ts";
import { fieldsOfMap, integer, noncesOf, numberOf, textOf, UIDS } from "./values.ts";
import { type BatchContext, choose, entry, incrementWrite, list, newNonce, text } from "./writes.ts";

/** What a write says, where that is not what an honest one says. */
interface Changes {
  readonly by?: Value;
  readonly total?: Value;
  readonly count?: Value;
  readonly writes?: Value;
  readonly generation?: number | Value;
  readonly open?: Value;
  readonly group?: string;
  /** The window of its mark; as a text, by its name. */
  readonly window?: number | string;
  readonly nonces?: Value[];
  /** More fields, by field path. */
  readonly more?: Record<string, Value>;
  /** Field paths that are removed. */
  readonly removed?: readonly string[];
  readonly transforms?: NonNullable<Write["transforms"]>;
  /** The beginnings of the paths of transforms that are left out. */
  readonly left?: RegExp;
}

const ONE = integer(1);

/** An increment of a counter document, in its generation, or in the next one once that is full. */
function directWrite(context: BatchContext, counter: string, changes: Changes = {}): Write {
  const direct = directOf(context.world[counter]);
  const current = numberOf(direct.generation) ?? 0;
  const { by = ONE, generation = current + (isOver(direct) ? 1 : 0) } = changes;
  const { window = typeof generation === "number" ? generation : current, nonces = [newNonce(context)] } = changes;
  const { group = counter.replace(/^counters\/(.*?):.*$/s, "$1"), open = { booleanValue: true } } = changes;
  const removed = changes.removed ?? [`direct.marks.\`${windowName(Number(window) + 1)}\``];
  const named = typeof generation === "number" ? integer(generation) : generation;
  const { more = {}, left = /^$/ } = changes;
  const marks = `direct.marks.\`${typeof window === "number" ? windowName(window) : window}\``;
  const transforms = [
    { fieldPath: "total", increment: changes.total ?? by },
    { fieldPath: "direct.count", increment: changes.count ?? by },
    { fieldPath: "direct.writes", increment: changes.writes ?? ONE },
    { fieldPath: `${marks}.at`, setToServerValue: "REQUEST_TIME" },
    { fieldPath: `${marks}.nonces`, appendMissingElements: { values: nonces } },
    ...(changes.transforms ?? []),
  ];
  return {
    path: counter,
    set: fieldsOf({ group: text(group), "direct.open": open, "direct.generation": named, ...more }),
    mask: ["group", "direct.open", "direct.generation", ...Object.keys(more), ...removed],
    transforms: transforms.filter(({ fieldPath }) => !left.test(fieldPath)),
  };
}

/** Fields by their paths, which have no dots in a name. */
function fieldsOf(paths: Record<string, Value>): Fields {
  const fields: Fields = {};
  for (const [path, value] of Object.entries(paths)) {
    const names = path.replaceAll("`", "").split(".");
    let inner = fields;
    for (const name of names.slice(0, -1)) {
      inner[name] ??= { mapValue: { fields: {} } };
      inner = (inner[name].mapValue as { fields: Fields }).fields;
    }
    inner[names.at(-1) as string] = value;
  }
  return fields;
}

/** An increment of a counter that is open, though perhaps full. */
export function directIncrement(context: BatchContext, pick: number): Write[] {
  const { fresh, slow, fast, quiet } = context.direct;
  const counter = choose([fresh, fresh, slow, slow, quiet, fast], pick);
  const { generation } = directOf(context.world[counter]);
  const isFull = counter === quiet && isOver(directOf(context.world[counter]), false);
  return [directWrite(context, counter, isFull ? { generation: (numberOf(generation) ?? 0) + 1 } : {})];
}

/** A like in the counter document, or its undo: there or in shard 0. */
export function directToggle(context: BatchContext, once: string, shard: string, pick: number): Write[] {
  const { likes } = context.direct;
  const path = `${likes}/tallyEntries/${once}`;
  const counted = textOf(context.world[path]?.shard);
  const where = choose(["direct", "direct", shard], pick);
  if (!counted) return [entry(likes, once, where), placed(context, where, ONE)];
  const undone = counted === "direct" ? choose(["direct", "0"], pick) : counted;
  return [{ path, delete: true }, placed(context, undone, integer(-1))];
}

function placed(context: BatchContext, where: string, by: Value): Write {
  const { likes } = context.direct;
  return where === "direct" ? directWrite(context, likes, { by }) : incrementWrite(context, likes, where, by);
}

/** A clap in the counter document, with a use of its limit. */
export function paidDirectClap(context: BatchContext, user: string): Write[] {
  return [limitFor(context, user, context.limited), directWrite(context, context.limited)];
}

export function directWrongly(context: BatchContext, user: string, shard: string, pick: number): Write[] {
  const { direct, closed, stock, limited } = context;
  const some = pick >> 7;
  const counter = choose([direct.fresh, direct.slow, direct.fast, direct.quiet], some);
  const now = numberOf(directOf(context.world[counter]).generation) ?? 0;
  const write = (changes: Changes, to = counter) => [directWrite(context, to, changes)];
  const wrong = choose([integer(2), integer(-1), integer(0), { doubleValue: 1 }, { doubleValue: 0.5 }], some);
  const mark = (window: number) => ({
    fieldPath: `direct.marks.\`${windowName(window)}\``,
    at: { fieldPath: `direct.marks.\`${windowName(window)}\`.at`, setToServerValue: "REQUEST_TIME" },
    nonces: (...values: Value[]) => ({
      fieldPath: `direct.marks.\`${windowName(window)}\`.nonces`,
      appendMissingElements: { values },
    }),
  });
  const held = (window: number) => noncesOf(fieldsOfMap(directOf(context.world[counter]).marks)[windowName(window)]);
  const known = Array.from({ length: DIRECT_WINDOWS }, (_, window) => window).filter(
    (window) => held(window).length > 0,
  );
  const old = choose(known.length > 0 ? known : [0], some);
  const ways: (() => Write[])[] = [
    // Amounts.
    () => write({ by: wrong }),
    () => write({ total: wrong }),
    () => write({ count: wrong }),
    () => write({ left: choose([/^total/, /^direct.count/, /^direct.(writes|marks)/, /^direct.writes/], some) }),
    () => write({ writes: choose([integer(2), integer(0), { doubleValue: 1 }], some) }),
    () => write({ more: { total: choose([integer(100), text("1")], some) }, left: /^total/ }),
    // The generation.
    () => write({ generation: now + choose([1, 1, 1, -1, 5, 2], some) }),
    () => write({ generation: now + choose([1, -1, DIRECT_WINDOWS, 2], some), window: now, removed: [] }),
    () => write({ generation: now }),
    () => write({ generation: choose<Value>([{ doubleValue: now }, text(`${now}`), { nullValue: null }], some) }),
    () => write({ generation: { doubleValue: now }, window: `${windowName(now)}.0`, removed: [] }),
    // Marks.
    () => write({ left: choose([/^direct.marks/, /nonces$/, /\.at$/], some) }),
    () => write({ nonces: [choose(BAD_NONCES, some)] }),
    () => write({ nonces: [newNonce(context), newNonce(context)] }),
    () => write({ window: now + choose([1, 2, 3, 4, 5, 6, 7], some) }),
    () => write({ window: choose(["8", "x", "10"], some), removed: [] }),
    () => write({ nonces: [held(old)[0] ?? newNonce(context)] }),
    () => write({ transforms: [mark(now + 2).at, mark(now + 2).nonces(newNonce(context))] }),
    () => write({ transforms: [mark(now + 1).at, mark(now + 1).nonces(newNonce(context))], removed: [] }),
    () =>
      write({ removed: choose([[], [mark(old).fieldPath], [mark(now + 4).fieldPath, mark(now + 1).fieldPath]], some) }),
    () => write({ more: { [`${mark(now).fieldPath}.extra`]: ONE } }),
    () => write({ more: { [`${mark(now).fieldPath}.at`]: choose(TIMES, some) }, left: /\.at$/ }),
    () => write({ more: { [`${mark(now).fieldPath}.nonces`]: list(newNonce(context)) }, left: /nonces$/ }),
    () =>
      write({
        more: { "direct.marks": choose<Value>([text("x"), { mapValue: { fields: {} } }], some) },
        left: /marks/,
      }),
    // Other fields.
    () => write({ open: choose<Value>([{ booleanValue: false }, text("true"), { nullValue: null }], some) }),
    () => write({ more: { "direct.extra": ONE } }),
    () => write({ more: { extra: ONE } }),
    () => write({ more: { shardCount: integer(9) } }),
    () => write({ group: "likes" }),
    () => write({ more: { open: ONE } }, direct.fresh),
    () => [{ ...directWrite(context, counter), mask: undefined as never }],
    () => [{ path: counter, delete: true }],
    () => [...write({}), ...write({})],
    // Counters that take none.
    () => write({}, choose([direct.shut, direct.control, direct.most, closed], some)),
    () => [entry(direct.needing, user, "direct"), directWrite(context, direct.needing)],
    () => write({ generation: 7 }, direct.shut),
    () => write({}, direct.most),
    () => write({}, choose([limited, direct.likes], some)),
    () => [limitFor(context, user, `${limited}/shards/0`), directWrite(context, limited)],
    () => [incrementWrite(context, direct.quiet, shard)],
    () => [entry(stock, user, "direct", integer(-1)), directWrite(context, stock, { by: integer(-1) })],
  ];
  const { likes } = direct;
  const other = choose(UIDS, some);
  const entryOf = (once: string) => `${likes}/tallyEntries/${once}`;
  const counted = textOf(context.world[entryOf(user)]?.shard);
  const leave = (once: string): Write => ({ path: entryOf(once), delete: true });
  const put = (where: string, by = 1) => placed(context, where, integer(by));
  const elsewhere = choose(
    ["direct", "0", "1"].filter((where) => where !== counted),
    some,
  );
  const oneWay: (() => Write[])[] = counted
    ? [
        () => [leave(user)],
        () => [leave(user), put(elsewhere, -1)],
        () => [leave(user), put("0", -1), put("direct", -1)],
        () => [leave(user), put("0", -1), put("1", -1)],
        () => [leave(user), put(counted, -2)],
        () => [leave(other), put(choose(["direct", "0"], some), -1)],
        () => [put(choose(["direct", counted, "0"], some), -1)],
        () => [entry(likes, user, "direct"), put("direct")],
      ]
    : [
        () => [entry(likes, user, choose(["direct", "direct", "9direct", "base"], some))],
        () => [put(choose(["direct", "0"], some), choose([1, -1], some))],
        () => [entry(likes, user, "direct"), put(choose(["0", "1"], some))],
        () => [entry(likes, user, shard), put("direct")],
        () => [entry(likes, user, "direct"), put("direct"), put("0")],
        () => [entry(likes, user, choose(["direct", "0"], some)), put("direct", choose([2, -1], some)), put("0", -1)],
        () => [entry(likes, other, "direct"), put("direct")],
        () => [entry(likes, user, "direct", integer(2)), put("direct", 2)],
      ];
  // Half of the ways are about likes.
  return pick % 2 ? choose(oneWay, pick >> 1)() : choose(ways, pick >> 1)();
}
