/**
 * Sends random batches of writes to the rules of shards, entries and visitors. An oracle checks each accepted batch by its effect on the
 * documents. `test/simulation/emulator/rules.test.ts` compares the rules of direct increments with a model.
 * `TALLY_SEED=…` replays a run.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runs } from "../../core/testing/runs.ts";
import { createBatch, STEP, type Step } from "./fuzz/batches.ts";
import { countersOf, findViolation, initialDocuments } from "./fuzz/oracle.ts";
import { isEqual, numberOf } from "./fuzz/values.ts";
import { type BatchContext, entry, like } from "./fuzz/writes.ts";
import { ADMIN, type Database, database, type User, type World, type Write } from "./rest.ts";

const PROJECT = `demo-tally-fuzz-${process.pid}`;
const RULES = readFileSync("firestore.rules", "utf8");
const SEED = Number(process.env.TALLY_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Concurrent sequences of worlds. Each world has its own counters. */
const LANES = 4;
/** The most batches of a world. */
const BATCHES = 40;
/** Worlds of a lane for weakened rules: three minutes. The first violation ends the run, mostly within ten worlds. */
const WORLDS_TO_FIND = 240;

beforeAll(() => console.log(`fuzz: TALLY_SEED=${SEED}`));

/** How many batches were sent, and how many were accepted. */
interface Statistics {
  sent: number;
  accepted: number;
}

/** The rules have accepted a batch that they must refuse. The message has all that a replay needs. */
class Violation extends Error {
  constructor(fault: string, user: User, writes: readonly Write[], world: World) {
    const before = Object.fromEntries(Object.entries(world).filter(([path]) => writes.some((it) => it.path === path)));
    super(
      `accepted as ${user ?? "a client that is signed out"}, but ${fault}:\n${JSON.stringify({ user, writes, before }, null, 1)}`,
    );
  }
}

let worlds = 0;

/** Sends batches to a new world, one after another. @throws Violation */
async function runWorld(db: Database, history: readonly Step[], statistics: Statistics): Promise<void> {
  const where = countersOf(`${process.pid}x${worlds++}`);
  await db.commit(ADMIN, initialDocuments(where));
  const context: BatchContext = { ...where, world: await db.read(where.paths), nextNonce: 0, documents: db.documents };
  for (const step of history) {
    const { user } = step;
    const before = context.world;
    const writes = createBatch(step, context);
    if (writes.length === 0) continue;
    const from = Date.now();
    const accepted = (await db.commit(user, writes)) === 200;
    const span = { from, to: Date.now() };
    statistics.sent++;
    if (!accepted) continue;
    statistics.accepted++;
    const after = await db.read(where.paths);
    const fault = findViolation(where, before, after, user, writes, span);
    if (fault) throw new Violation(fault, user, writes, before);
    context.world = after;
    if ((await db.commit(user, writes)) !== 200) continue;
    // A visitor may be written again, since that changes nothing.
    context.world = await db.read(where.paths);
    if (!isEqual(after, context.world)) throw new Violation("so is its replay", user, writes, before);
  }
}

/**
 * Sends batches to many worlds.
 *
 * @param numRuns  worlds of each lane
 * @param shrink  whether to minimize a failing history; if not, the first violation ends the run
 * @returns       the first violation, if any
 */
async function fuzz(
  project: string,
  rules: string,
  statistics: Statistics,
  numRuns: number,
  shrink: boolean,
): Promise<string | undefined> {
  const db = await database(project, rules);
  const history = fc.array(STEP, { minLength: 1, maxLength: BATCHES, size: "max" });
  let isFound = false;
  const holds = fc.asyncProperty(history, async (steps) => {
    if (isFound && !shrink) return;
    await runWorld(db, steps, statistics).catch((error) => {
      isFound = true;
      throw error;
    });
  });
  const runs = Array.from({ length: LANES }, (_, lane) =>
    fc.check(holds, {
      seed: SEED + lane * 1_000_003,
      numRuns,
      endOnFailure: !shrink,
    }),
  );
  const failed = (await Promise.all(runs)).find((run) => run.failed);
  return failed && String((failed.errorInstance as Error).message);
}

test("every accepted batch counts once, for its own user, and its replay is refused", async () => {
  const { numRuns } = runs(30);
  const statistics = { sent: 0, accepted: 0 };
  const found = await fuzz(PROJECT, RULES, statistics, numRuns, true);
  console.log(`fuzz: ${statistics.sent} batches, ${statistics.accepted} accepted`);
  expect(found).toBeUndefined();
  expect(statistics.sent).toBeGreaterThan(3 * LANES * numRuns);
  expect(statistics.accepted / statistics.sent).toBeGreaterThan(0.07);
});

test("commits of the same millisecond do not share an increment", async () => {
  const db = await database(PROJECT, RULES);
  const { perUser, ...where } = countersOf(`${process.pid}x${worlds++}`);
  const context: BatchContext = { ...where, perUser, world: {}, nextNonce: 0, documents: db.documents };
  const users = Array.from({ length: 40 }, (_, n) => `user${n}`);
  const paths = [`${perUser}/shards/0`, ...users.map((user) => `${perUser}/tallyEntries/${user}`)];
  const sendAll = (batches: [user: string, writes: Write[]][]) =>
    Promise.all(batches.map(([user, writes]) => db.commit(user, writes)));
  let refused = 0;
  for (let n = 0; n < users.length; n += 20) {
    const here = users.slice(n, n + 20);
    // Half of the users like. The others send incomplete batches: an entry without an increment, or its deletion without an undo.
    const [honest, cheats] = [here.slice(0, 10), here.slice(10)];
    await sendAll(cheats.slice(0, 5).map((user) => [user, like(context, user, "0")]));
    const statuses = await sendAll([
      ...honest.flatMap((user, i): [string, Write[]][] => [
        [user, like(context, user, "0")],
        [
          cheats[i] as string,
          i < 5
            ? [{ path: `${perUser}/tallyEntries/${cheats[i]}`, delete: true }]
            : [entry(perUser, cheats[i] as string, "0")],
        ],
      ]),
    ]);
    refused += statuses.filter((status) => status !== 200).length;
  }
  const world = await db.read(paths);
  const entries = Object.keys(world).length - 1;
  console.log(`fuzz: ${entries} entries, ${numberOf(world[paths[0] as string]?.count)} counted, ${refused} refused`);
  expect(numberOf(world[paths[0] as string]?.count)).toBe(entries);
});

/**
 * Ways to weaken the rules, as replacements in their text. The fuzzer must find each.
 *
 * Three parts of the rules are left out, because their removal has no effect here. `isOnlyShardWrite`: the emulator applies
 * the rules to several writes of one document as one. The ban on updates of entries: no shard can be written while an entry
 * stays. `existsAfter` of the increment and `exists` of the undo: without an entry, the lines after them fail.
 */
const IN_SHARDS = (what: RegExp) => new RegExp(`(function isIncrement[^}]*?)${what.source}`);
const WEAKENED: Record<string, [from: string | RegExp, to: string]> = {
  "any amount, up": [/(isAllowedAmount\(by\) \{\n +return by) == 1/, "$1 > 0"],
  "any amount, down": [/(isAllowedAmount\(by\) \{\n +return by) == 1/, "$1 <= 1"],
  "any amount with `once`": [/(isAllowedOnceAmount\(by\) \{\n +return by) == 1/, "$1 is number"],
  "counts that are no integers": ["(count is int || (count is float && before is float))", "count is number"],
  "any shard id": ["hasFunctions() && isShardIndex(shard) &&", "hasFunctions() &&"],
  "leading zeros": ["^(0|[1-9][0-9]{0,3})$", "^[0-9]{1,4}$"],
  "more shards": ["[0-9]{0,3})$", "[0-9]{0,4})$"],
  "shards are deleted": [
    "allow create, update: if hasFunctions()",
    "allow delete; allow create, update: if hasFunctions()",
  ],
  "users count more than once": ["(isOnceIncrement(shard", "(by == 1 || isOnceIncrement(shard"],
  "groups that are not open": [IN_SHARDS(/: isOpen\(\) &&/), "$1:"],
  "open counters have entries": ["allow create: if hasEntries() && isOwnEntry", "allow create: if isOwnEntry"],
  "entries of others are made": ["isOwnEntry(once) && isEntry()", "isEntry()"],
  "entries of others are deleted": [
    "allow delete: if hasEntries() && isOwnEntry(once)",
    "allow delete: if hasEntries()",
  ],
  "entries without an increment": [/&& isWrittenNow\(entry\.shard\)/, ""],
  "entries deleted without an undo": [/&& isUndoneNow\(resource\.data\.shard\)/, ""],
  "entries with a time of their own": ["&& entry.at == request.time", ""],
  "entries with foreign fields": ["entry.keys().hasOnly(['once', 'by', 'shard', 'at'])", "true"],
  "entries with another `once`": ["&& entry.once == request.auth.uid", ""],
  "shards with foreign fields": ["after.keys().hasOnly(['shard', 'count', 'writes', 'at', 'marks'])", "true"],
  "writes that do not count themselves": ["&& after.writes == before.get('writes', 0) + 1", ""],
  "writes that may count themselves": [
    "after.writes == before.get('writes', 0) + 1",
    "after.writes >= before.get('writes', 0)",
  ],
  "writes counted as fractions": [/&& after\.writes is int\b/, ""],
  "shards with a time of their own": ["&& after.at == request.time", ""],
  "shards with another name": ["&& after.shard == shard", ""],
  "no marks": ["&& leavesMark(before.get('marks', {}), after.marks)", ""],
  "marks in several slots": ["change.changedKeys().size() == 1", "change.changedKeys().size() >= 1"],
  "slots of any name": ["&& after.keys().hasOnly(['0', '1', '2', '3', '4'])", ""],
  "slots that are removed at any time": ["before[name].at + duration.value(2, 'm') < request.time", "true"],
  "one slot that changes at any time": [/.*\|\| isMarkedOrExpired\(before, after, '3'\).*/, ""],
  "slots with foreign fields": ["slot.keys().hasOnly(['at', 'nonces'])", "true"],
  "slots with a time of their own": ["&& slot.at == request.time", ""],
  "replays, and any number of nonces": ["&& slot.nonces.size() == size + 1", "&& slot.nonces.size() > 0"],
  replays: ["slot.nonces.size() == size + 1", "slot.nonces.size() >= size"],
  "nonces in place of others": ["&& (size == 0 || slot.nonces[0:size] == nonces)", ""],
  "nonces that are no bytes": [
    "slot.nonces[size] is bytes && slot.nonces[size].size() == 5",
    "(!(slot.nonces[size] is bytes) || slot.nonces[size].size() == 5)",
  ],
  "nonces of any size": ["&& slot.nonces[size].size() == 5", ""],
  "increments though there is an entry": ["&& !exists(entryPath())", ""],
  "increments that need no entry": [/&& existsAfter\(entryPath.*\n.*data\.shard == shard\n.*data\.by == by/, ""],
  "increments on another shard than the entry's": ["&& getAfter(entryPath()).data.shard == shard", ""],
  "increments by another amount than the entry's": ["&& getAfter(entryPath()).data.by == by", ""],
  "visitors of any counter": ["if countsVisitors() && hasNoControl()", "if hasNoControl()"],
  "visitors in any bucket": ["(bucket == hash[0:1] || bucket == hash[0:2])", "true"],
  "visitors with foreign fields": ["after.keys().hasOnly(['visitors'])", "true"],
  "any visitor": [/&& after\.visitors == \(hash in before.*/, "&& after.visitors.size() == before.size() + 1"],
  "visitors in place of others": [/&& after\.visitors == \(hash in before.*/, "&& hash in after.visitors"],
  "visitors twice": ["(hash in before ? before : before.concat([hash]))", "before.concat([hash])"],
  "undos that need no entry": [
    /&& exists\(entryPath(.*\n.*)\n.*data\.shard, shard\)\n.*data\.by == -by/,
    "&& by == -1 && !exists(entryPath$1",
  ],
  "undos that leave the entry": ["&& !existsAfter(entryPath())", ""],
  "undos on another shard than the entry's": ["&& undoes(get(entryPath()).data.shard, shard)", ""],
  "undos by another amount than the entry's": ["&& get(entryPath()).data.by == -by", ""],
};

describe("the fuzzer finds rules that accept", { tags: "nightly" }, () => {
  let sent = 0;
  test.each(Object.entries(WEAKENED))(
    "%s",
    async (name, [from, to]) => {
      const rules = RULES.replace(from, to);
      expect(rules, "the rules have no such text to replace").not.toBe(RULES);
      const statistics = { sent: 0, accepted: 0 };
      const found = await fuzz(`${PROJECT}-weakened-${sent}`, rules, statistics, WORLDS_TO_FIND, false);
      sent += statistics.sent;
      console.log(`  ${statistics.sent} batches  ${name}: ${found?.split("\n")[0]?.slice(0, 160)}`);
      expect(found).toBeDefined();
    },
    300_000,
  );
});
