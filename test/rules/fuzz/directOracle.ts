/** Checks the effect of an accepted batch on counter documents, by the documents before and after it alone. */
import { DIRECT_WINDOWS } from "../../../core/src/index.ts";
import type { Fields, Value, World, Write } from "../rest.ts";
import {
  faultOfWindow,
  fieldsOfMap,
  integer,
  isEqual,
  markWindows,
  nonceOf,
  noncesOf,
  numberOf,
  type Span,
  textOf,
  UIDS,
} from "./values.ts";

/** Counters whose increments go to their documents. */
export interface DirectCounters {
  /** No document yet. */
  readonly fresh: string;
  /** Its generation is full, and took exactly a minute. */
  readonly slow: string;
  /** Its generation is full, and took half a second less. */
  readonly fast: string;
  /** The functions do not run for its group. */
  readonly quiet: string;
  /** Closed, but not full. */
  readonly shut: string;
  /** The functions must publish its total. */
  readonly needing: string;
  /** Its name has a control character. */
  readonly control: string;
  /** Its total is as large as it can be. */
  readonly most: string;
  /** It counts once per user. */
  readonly likes: string;
}

/** How many writes a generation takes with the functions, and without. */
const PER_GENERATION = 4;
const WITHOUT_FUNCTIONS = 40;
const MINUTE = 60_000;

export function directCountersOf(id: string): DirectCounters {
  return {
    fresh: `counters/views:${id}-fresh`,
    slow: `counters/views:${id}-slow`,
    fast: `counters/views:${id}-fast`,
    quiet: `counters/quiet:${id}`,
    shut: `counters/views:${id}-shut`,
    needing: `counters/votes:${id}`,
    control: `counters/views:${id}\u0001`,
    most: `counters/views:${id}-most`,
    likes: `counters/likes:${id}-direct`,
  };
}

/** Where likes are placed. */
const PLACES = ["0", "1", "direct"];

export function directPathsOf({ likes, quiet, needing, ...others }: DirectCounters): string[] {
  return [
    ...Object.values(others),
    needing,
    quiet,
    `${quiet}/shards/0`,
    `${quiet}/shards/1`,
    ...PLACES.map((place) => placePath(likes, place)),
    ...[likes, needing].flatMap((counter) => UIDS.map((once) => `${counter}/tallyEntries/${once}`)),
  ];
}

function placePath(likes: string, place: string): string {
  return place === "direct" ? likes : `${likes}/shards/${place}`;
}

export function initialDirectDocuments({ slow, fast, quiet, shut, most, likes }: DirectCounters): Write[] {
  const at = (millis: number) => new Date(Date.parse("2020-01-01T00:00:00Z") + millis).toISOString();
  const some = (count: number, from: number) => Array.from({ length: count }, (_, n) => nonceOf(-from - n));
  const direct = (open: boolean, generation: number, count: number, marks: Value): Value => ({
    mapValue: {
      fields: {
        open: { booleanValue: open },
        generation: integer(generation),
        count: integer(count),
        writes: integer(8),
        marks,
      },
    },
  });
  const published = (path: string, total: number, field: Value, group = "views"): Write => ({
    path,
    set: {
      total: integer(total),
      group: { stringValue: group },
      shardCount: integer(1),
      asOf: { timestampValue: at(0) },
      direct: field,
    },
  });
  const full = (millis: number, marks = PER_GENERATION) =>
    markWindows({ 6: [at(0), ...some(PER_GENERATION, 10)], 7: [at(millis), ...some(marks, 20)] });
  const most53 = Number.MAX_SAFE_INTEGER;
  return [
    published(slow, 9, direct(true, 7, 8, full(MINUTE))),
    published(fast, 9, direct(true, 7, 8, full(MINUTE - 500))),
    published(quiet, 9, direct(true, 7, 8, full(1_000, WITHOUT_FUNCTIONS - 2)), "quiet"),
    published(shut, 9, direct(false, 7, 8, markWindows({}))),
    published(most, most53, direct(true, 7, most53, markWindows({}))),
    {
      path: likes,
      set: {
        group: { stringValue: "likes" },
        total: integer(1),
        direct: direct(true, 3, 1, markWindows({ 3: [at(0), nonceOf(-30)] })),
      },
    },
    {
      path: `${likes}/tallyEntries/carol`,
      set: {
        once: { stringValue: "carol" },
        by: integer(1),
        shard: { stringValue: "direct" },
        at: { timestampValue: at(0) },
      },
    },
  ];
}

/** @returns the violation in a document that takes direct increments, if any */
export function faultOfDirectIncrements(
  path: string,
  before: Fields | undefined,
  after: Fields | undefined,
  hits: number,
  span: Span,
): string | undefined {
  if (isEqual(before, after)) return hits > 0 ? "was written without an effect" : undefined;
  if (hits === 0) return "was changed by no write";
  if (!after) return "is gone";
  const group = /^counters\/(.*?):/s.exec(path)?.[1];
  const [old, direct] = [directOf(before), directOf(after)];
  const changed = changedIn(before, after);
  const allowed = before ? ["direct", "total"] : ["direct", "group", "total"];
  if (changed.some((field) => !allowed.includes(field))) return `has changed the fields ${changed}`;
  if (textOf(after.group) !== group) return `is of the group ${JSON.stringify(after.group)}`;
  if (before && old.open?.booleanValue !== true) return "was closed";
  if (direct.open?.booleanValue !== true) return "is closed now";
  if (Object.keys(direct).some((part) => !["open", "generation", "count", "writes", "marks"].includes(part)))
    return `has the parts ${Object.keys(direct)}`;
  for (const value of [after.total, direct.count, direct.writes, direct.generation])
    if (!value?.integerValue || !Number.isSafeInteger(numberOf(value))) return `has ${JSON.stringify(value)}`;
  const more = (field: string) => (numberOf(direct[field]) ?? 0) - (numberOf(old[field]) ?? 0);
  const [by, writes] = [more("count"), more("writes")];
  const grown = (numberOf(after.total) ?? 0) - (numberOf(before?.total) ?? 0);
  if (grown !== by) return `counts ${by}, but its total has grown by ${grown}`;
  if (writes < 1 || writes > hits) return `${hits} writes count themselves as ${writes}`;
  if (group !== "likes" && by !== writes) return `${writes} increments added ${by}`;
  const begun = more("generation");
  if (begun !== 0 && begun !== 1) return `has gone ${begun} generations further`;
  if (begun === 1 && !isOver(old, group !== "quiet")) return "has begun a generation too early";
  const most = group === "quiet" ? WITHOUT_FUNCTIONS : PER_GENERATION;
  return faultOfGeneration(numberOf(direct.generation) ?? 0, marksIn(old), marksIn(direct), most, hits, span);
}

/** Marks are added to the window of the generation, and that of the next one is empty. */
function faultOfGeneration(generation: number, before: Fields, after: Fields, most: number, hits: number, span: Span) {
  const [name, next] = [windowName(generation), windowName(generation + 1)];
  const changed = changedIn(before, after);
  if (changed.some((window) => window !== name && window !== next)) return `has changed the windows ${changed}`;
  if (next in after) return `has the window ${next} of the next generation`;
  if (noncesOf(after[name]).length > most) return `has ${noncesOf(after[name]).length} marks in ${name}`;
  return faultOfWindow(name, before[name], after[name], hits, span);
}

/** Whether the next generation may begin. */
export function isOver(direct: Fields, hasFunctions = true): boolean {
  const [generation, marks] = [numberOf(direct.generation) ?? 0, marksIn(direct)];
  const [last, before] = [marks[windowName(generation)], marks[windowName(generation - 1)]];
  const size = noncesOf(last).length;
  if (size < PER_GENERATION) return false;
  if (size >= WITHOUT_FUNCTIONS && !hasFunctions) return true;
  const time = (window: Value) => Date.parse(String(fieldsOfMap(window).at?.timestampValue));
  return !last || !before || time(last) - time(before) >= MINUTE;
}

/** Of one user, an entry and one increment come together, and leave together. All else stays. */
export function faultOfLikes(likes: string, before: World, after: World, user: string | null): string | undefined {
  const entry = (world: World) => world[`${likes}/tallyEntries/${user}`];
  const counted = (world: World, place: string) => {
    const document = world[placePath(likes, place)];
    return numberOf((place === "direct" ? directOf(document) : document)?.count) ?? 0;
  };
  const moved = PLACES.map((place) => counted(after, place) - counted(before, place)).join();
  const expected = (where: string | undefined, by: number) => PLACES.map((place) => (place === where ? by : 0)).join();
  const [old, now] = user === null ? [] : [entry(before), entry(after)];
  if (isEqual(old, now)) return moved === expected(undefined, 0) ? undefined : `moved by ${moved} without an entry`;
  if (now) return moved === expected(textOf(now.shard), 1) ? undefined : `moved by ${moved} with a new entry`;
  const shard = textOf(old?.shard);
  const isUndo = moved === expected(shard, -1) || (shard === "direct" && moved === expected("0", -1));
  return isUndo ? undefined : `moved by ${moved} when the entry of ${shard} went`;
}

export function windowName(generation: number): string {
  return `${((generation % DIRECT_WINDOWS) + DIRECT_WINDOWS) % DIRECT_WINDOWS}`;
}

export function directOf(document: Fields | undefined): Fields {
  return fieldsOfMap(document?.direct);
}

function marksIn(direct: Fields): Fields {
  return fieldsOfMap(direct.marks);
}

function changedIn(before: Fields = {}, after: Fields = {}): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isEqual(before[field], after[field]),
  );
}
