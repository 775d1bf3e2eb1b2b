/** The project of the rules tests. Each test has counters and users of its own, so that tests run side by side. */
import { readFileSync } from "node:fs";
import { beforeAll, expect } from "vitest";
import { withPolicy } from "../../testkit/rules.ts";
import { numberOf } from "./fuzz/values.ts";
import { LIMITED, withLimits } from "./limitedRules.ts";
import { ADMIN, type Claims, type Database, database, type Fields, type User, type Write } from "./rest.ts";
import { set } from "./writes.ts";

/** Its own project, so that the coverage is that of these tests alone. */
export const PROJECT = `demo-tally-rules-${process.pid}`;
const groups = (name: string, ...names: readonly string[]) =>
  `function ${name}() {\n        return counterGroup() in ${JSON.stringify(names).replaceAll('"', "'")};\n      }`;
/**
 * The default rules, with limits, with old clients of the groups `hits` and, though they count otherwise, `likes` and `stock`. Votes need the
 * functions.
 */
export const RULES = [groups("acceptsOldClients", "hits", "likes", "stock"), groups("needsFunctions", "votes")].reduce(
  withPolicy,
  withLimits(readFileSync("firestore.rules", "utf8"), LIMITED.policy, LIMITED.matches),
);
export let db: Database;

beforeAll(async () => {
  db = await database(PROJECT, RULES);
});

export const OPERATOR = { uid: "olga", operator: true };

let made = 0;
export const newCounter = (group = "views") => `counters/${group}:${made++}`;
export const newShard = (group?: string) => `${newCounter(group)}/shards/0`;
export const newUser = () => `user${made++}`;

/** The rules accept a commit. */
export async function accepts(user: User | Claims, ...writes: readonly Write[]): Promise<void> {
  expect(await db.commit(user, writes), JSON.stringify(writes)).toBe(200);
}

/** The rules refuse a commit. */
export async function refuses(user: User | Claims, ...writes: readonly Write[]): Promise<void> {
  expect(await db.commit(user, writes), JSON.stringify(writes)).toBe(403);
}

/** The rules show a document, or a list of them, to each of the users. */
export async function shows(path: string, ...users: readonly (User | Claims)[]): Promise<void> {
  for (const user of users) expect((await db.call(user, "GET", path)).status, path).toBe(200);
}

/** The rules show a document, or a list of them, to none of the users. */
export async function hides(path: string, ...users: readonly (User | Claims)[]): Promise<void> {
  for (const user of users) expect((await db.call(user, "GET", path)).status, path).toBe(403);
}

/** Writes a document past the rules. */
export async function store(path: string, data: object): Promise<void> {
  expect(await db.commit(ADMIN, [set(path, data)])).toBe(200);
}

/** A document, past the rules; without fields if it does not exist. */
export async function read(path: string): Promise<Fields> {
  return (await db.read([path]))[path] ?? {};
}

/** The sum of some shards of a counter. */
export async function sumOf(counter: string, ...ids: readonly string[]): Promise<number> {
  const shards = await db.read(
    (ids.length > 0 ? ids : ["0", "1", "2", "3", "7", "base"]).map((id) => `${counter}/shards/${id}`),
  );
  return Object.values(shards).reduce((sum, { count }) => sum + (numberOf(count) ?? 0), 0);
}
