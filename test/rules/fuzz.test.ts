/**
 * Sends random batches of writes to the rules. An oracle checks each accepted batch by its effect on the documents.
 * `TALLY_SEED=…` replays a run.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { withPolicy } from "../../testkit/rules.ts";
import { createBatch, STEPS, type Step } from "./fuzz/batches.ts";
import { countersOf, findViolation, initialDocuments, LIMIT, type Part } from "./fuzz/oracle.ts";
import { numberOf } from "./fuzz/values.ts";
import { type BatchContext, entry, like } from "./fuzz/writes.ts";
import { withLimits } from "./limitedRules.ts";
import { ADMIN, type Database, database, type User, type World, type Write } from "./rest.ts";

const PROJECT = `demo-tally-fuzz-${process.pid}`;
const policy = (name: string, condition: string) => `function ${name}() {\n        return ${condition};\n      }`;
/**
 * With a limit of each world for its claps and notes, and with old clients, who may write neither likes nor stock. Votes need the functions,
 * which do not run for the group `quiet`.
 */
const RULES = [
  policy("acceptsOldClients", "counterGroup() in ['hits', 'likes', 'tickets']"),
  policy("isOpen", "counterGroup() in ['views', 'quiet', 'claps', 'tickets']"),
  policy("needsFunctions", "counterGroup() in ['votes']"),
  policy("hasFunctions", "counterGroup() != 'quiet'"),
].reduce(
  withPolicy,
  withLimits(
    readFileSync("firestore.rules", "utf8"),
    `counterGroup() != 'claps' || isWithinLimit(counter, ${LIMIT.limit}, ${LIMIT.per}, ${LIMIT.burst})`,
    `match /notes/{limit}/all/{note} { allow write: if isWithinLimit(limit, ${LIMIT.limit}, ${LIMIT.per}, ${LIMIT.burst}); }`,
  ),
);
const SEED = Number(process.env.TALLY_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Concurrent sequences of worlds. Each world has its own counters. */
const LANES = 4;
/** The most batches of a world. */
const BATCHES = 40;
/** Worlds of a lane for weakened rules: three minutes. The first violation ends the run, mostly within ten worlds. */
const WORLDS_TO_FIND = 240;

beforeAll(() => console.log(`fuzz: TALLY_SEED=${SEED}`));

/** How many batches of each kind were sent, and how many were accepted. */
class Statistics {
  sent = 0;
  accepted = 0;
  readonly kinds = new Map<string, { sent: number; accepted: number }>();

  count({ actions, corruptions }: Step, accepted: boolean): void {
    const kinds =
      corruptions.length > 0
        ? corruptions.map(({ how }) => `corrupted: ${how}`)
        : [actions.map((it) => it.do).join("+")];
    this.sent++;
    if (accepted) this.accepted++;
    for (const kind of new Set(kinds)) {
      const so = this.kinds.get(kind) ?? { sent: 0, accepted: 0 };
      this.kinds.set(kind, { sent: so.sent + 1, accepted: so.accepted + Number(accepted) });
    }
  }

  /** @returns a line for every kind that was accepted at least once, and one for all others */
  report(): string {
    const kinds = [...this.kinds].sort(([, a], [, b]) => b.accepted - a.accepted || b.sent - a.sent);
    const reached = kinds.filter(([, { accepted }]) => accepted > 0);
    const never = kinds.slice(reached.length).reduce((sum, [, { sent }]) => sum + sent, 0);
    const lines = reached.map(([kind, { accepted, sent }]) => `  ${accepted} of ${sent}  ${kind}`);
    return [...lines, `  0 of ${never}  ${kinds.length - reached.length} other kinds`].join("\n");
  }
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
async function runWorld(db: Database, part: Part, history: readonly Step[], statistics: Statistics): Promise<void> {
  const where = countersOf(`${process.pid}x${worlds++}`, part);
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
    statistics.count(step, accepted);
    if (!accepted) continue;
    const after = await db.read(where.paths);
    const fault = findViolation(where, before, after, user, writes, span);
    if (fault) throw new Violation(fault, user, writes, before);
    context.world = after;
    const again = Date.now();
    if ((await db.commit(user, writes)) !== 200) continue;
    // A visitor may be written again, since it changes nothing; a note with another use of its limit; and what old clients write.
    context.world = await db.read(where.paths);
    const others = (world: World) =>
      JSON.stringify(Object.entries(world).filter(([path]) => !/^(tallyL|n|counters\/hits)/.test(path)));
    const isHarmless =
      others(after) === others(context.world) &&
      !findViolation(where, after, context.world, user, writes, { from: again, to: Date.now() });
    if (!isHarmless) throw new Violation("so is its replay", user, writes, before);
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
  part: Part,
  statistics: Statistics,
  numRuns: number,
  shrink: boolean,
): Promise<string | undefined> {
  const db = await database(project, rules);
  const history = fc.array(STEPS[part], { minLength: 1, maxLength: BATCHES, size: "max" });
  let isFound = false;
  const holds = fc.asyncProperty(history, async (steps) => {
    if (isFound && !shrink) return;
    await runWorld(db, part, steps, statistics).catch((error) => {
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

/** @param numRuns  worlds of each lane */
const acceptsOnlyCounts = (numRuns: number) => async () => {
  const statistics = new Statistics();
  const start = performance.now();
  const found = await fuzz(PROJECT, RULES, "all", statistics, numRuns, true);
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(
    `fuzz: ${statistics.sent} batches in ${seconds} s, ${statistics.accepted} accepted\n${statistics.report()}`,
  );
  expect(found).toBeUndefined();
  expect(statistics.sent).toBeGreaterThan(3 * LANES * numRuns);
  expect(statistics.accepted / statistics.sent).toBeGreaterThan(0.07);
};
test("every accepted batch counts once, for its own user, and its replay is refused", acceptsOnlyCounts(3));
test(
  "every accepted batch counts once, for its own user, and its replay is refused, in many worlds",
  { tags: "deep" },
  acceptsOnlyCounts(20),
);

const sharesNothing = (userCount: number) => async () => {
  const db = await database(PROJECT, RULES);
  const { perUser, ...where } = countersOf(`${process.pid}x${worlds++}`);
  const context: BatchContext = { ...where, perUser, world: {}, nextNonce: 0, documents: db.documents };
  const users = Array.from({ length: userCount }, (_, n) => `user${n}`);
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
};
test("commits of the same millisecond do not share an increment", sharesNothing(40));
test("commits of the same millisecond do not share an increment, of 200 users", { tags: "deep" }, sharesNothing(200));

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
  "marks in several windows": ["change.changedKeys().size() == 1", "change.changedKeys().size() >= 1"],
  "windows of any name": ["&& after.keys().hasOnly(['0', '1', '2', '3', '4'])", ""],
  "windows that are removed at any time": ["before[name].at + duration.value(2, 'm') < request.time", "true"],
  "one window that changes at any time": [/.*\|\| isMarkedOrExpired\(before, after, '3'\).*/, ""],
  "windows with foreign fields": ["window.keys().hasOnly(['at', 'nonces'])", "true"],
  "windows with a time of their own": ["&& window.at == request.time", ""],
  "replays, and any number of nonces": ["&& window.nonces.size() == size + 1", "&& window.nonces.size() > 0"],
  replays: ["window.nonces.size() == size + 1", "window.nonces.size() >= size"],
  "nonces in place of others": ["&& (size == 0 || window.nonces[0:size] == nonces)", ""],
  "nonces that are no bytes": [
    "window.nonces[size] is bytes && window.nonces[size].size() == 5",
    "(!(window.nonces[size] is bytes) || window.nonces[size].size() == 5)",
  ],
  "nonces of any size": ["&& window.nonces[size].size() == 5", ""],
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

const WEAKENED_LIMITS: typeof WEAKENED = {
  "increments without a use of a limit": [IN_SHARDS(/ && isAllowedRate\(\)\);/), "$1);"],
  "uses of others": ["isOwnLimit() && isUse(", "isUse("],
  "uses with foreign fields": ["use.keys().hasOnly(['slots', 'slot', 'for', 'expireAt'])", "true"],
  "uses of half a slot": ["use.slot is int &&", "true &&"],
  "uses of a negative slot": ["&& use.slot >= 0", ""],
  "uses of any slot": ["&& use.slot < 100", ""],
  "uses of another slot than they say": [/&& use\.slots\.diff\(before\).*/, ""],
  "uses of several slots": [
    "affectedKeys() == [string(use.slot)].toSet()",
    "affectedKeys().hasAny([string(use.slot)])",
  ],
  "uses with a time of their own": ["&& use.slots[string(use.slot)] == request.time", ""],
  "uses for no document": ["&& use.for is path", ""],
  "uses that may expire": ["&& use.expireAt >= request.time + duration.value(1, 'd')", ""],
  "uses that are deleted": [
    "allow create, update: if isOwnLimit() && isUse",
    "allow delete; allow create, update: if isOwnLimit() && isUse",
  ],
  "uses for another document": ["return use.for == request.path", "return true"],
  "uses of slots beyond the burst": ["&& use.slot < burst", ""],
  "one use for ever": [/(isPaidByUse[\s\S]*)&& use\.slots\[slot\] == request\.time/, "$1"],
  "uses of slots that have not rested": ["slots[slot] + duration.value(rest, 'ms') <= request.time", "true"],
  "uses of slots that have hardly rested": ["data.slots, slot, rest)", "data.slots, slot, rest / burst)"],
};

const WEAKENED_STOCK: typeof WEAKENED = {
  "takes beyond what is there": ["return !isBounded() || request.resource.data.count >= 0", "return true"],
  "takes of any size": ["return units <= 10", "return units <= 1000"],
  "takes that put in": ["return by < 0 && isAllowedTake", "return isAllowedTake"],
  "takes of a double": ["&& entry.by is int", ""],
  "stock that is an open counter": ["return countsOncePerUser() || isBounded()", "return countsOncePerUser()"],
};

const WEAKENED_OLD: typeof WEAKENED = {
  "old increments of any amount": ["return by in [0, 1]", "return by is int"],
  "old increments of a double": ["&& isCount(request.resource.data.count, 0)", ""],
  "old writes of other fields": [".affectedKeys().hasOnly(['count'])", ".affectedKeys().hasAny(['count'])"],
  "old writes of base": [
    "allow update: if isShardIndex(shard) && isOldIncrement()",
    "allow update: if isOldIncrement()",
  ],
  "old writes of what counts per user": ["acceptsOldClients() && !hasEntries()", "acceptsOldClients()"],
  "old writes of any counter": ["return acceptsOldClients() && !hasEntries()", "return !hasEntries()"],
};

/**
 * Left out because other conditions refuse the same: that the counts are integers, which `isCount` says, too, and that the marks are a map. A
 * generation that is no integer has no window of its name.
 */
const WEAKENED_DIRECT: typeof WEAKENED = {
  "direct increments of groups that need the functions": ["!needsFunctions() && !isBounded()", "!isBounded()"],
  "direct takes": ["!needsFunctions() && !isBounded()", "!needsFunctions()"],
  "direct increments of counters with a control character": [
    "if hasNoControl() && (resource == null ? isDirect",
    "if (resource == null ? isDirect",
  ],
  "direct increments of groups that are not open": [/(\n +): isOpen\(\) && /, "$1: "],
  "direct increments of any amount": [/: isOpen\(\) && isAllowedAmount\(by\)/, ": isOpen()"],
  "direct increments without a use of a limit": [
    " && isAllowedAmount(by) && isAllowedRate()",
    " && isAllowedAmount(by)",
  ],
  "direct likes without an entry": ["? isOnceIncrement('direct', by) ||", "? true ||"],
  "documents are deleted by clients": [
    "allow create, update: if hasNoControl() && (resource",
    "allow delete; allow create, update: if hasNoControl() && (resource",
  ],
  "new documents with other fields": ["after.keys().hasOnly(['group', 'total', 'direct']) && ", ""],
  "new documents of another group": ["&& after.group == counterGroup()", ""],
  "direct increments of closed documents": ["old.get('open', false) == true && ", ""],
  "direct increments that change other fields": [
    ".affectedKeys().hasOnly(['total', 'direct'])",
    ".affectedKeys().hasAny(['total', 'direct'])",
  ],
  "direct increments with foreign parts": [
    "&& direct.keys().hasOnly(['open', 'generation', 'count', 'writes', 'marks'])",
    "",
  ],
  "direct increments that close the document": ["&& direct.open == true", ""],
  "direct increments beyond what is safe": ["isCount(after.total, 0) && isCount(direct.count, 0)", "true"],
  "a total that grows otherwise": [/&& after\.total - before\.get.*/, ""],
  "direct writes that do not count themselves": ["== old.get('writes', 0) + 1", ">= old.get('writes', 0)"],
  "direct writes counted as fractions": ["&& direct.writes is int &&", "&&"],
  "any generation": ["&& joinsGeneration(old, direct.generation)", ""],
  "the next generation at any time": ["&& mayBeginNext(old.get('marks', {}), current)", ""],
  "the next generation after three marks": ["size >= 4 ", "size >= 3 "],
  "the next generation after a fast one": [/&& \(!\('at' in before\) .*\)/, ")"],
  "the next generation after 39 marks without functions": ["size >= 40", "size >= 39"],
  "the next generation after 59 seconds": ["duration.value(60, 's')", "duration.value(59, 's')"],
  "no direct marks": [/\n.*&& leavesDirectMark\(old.*;/, ";"],
  "direct marks in any window": ["&& after.diff(before).affectedKeys().hasOnly([name, next])", ""],
  "marks of the next generation": ["&& !(next in after)", ""],
  "five marks in a generation": ["hasFunctions() ? 4 : 40", "hasFunctions() ? 5 : 40"],
  "41 marks in a generation without functions": ["hasFunctions() ? 4 : 40", "hasFunctions() ? 4 : 41"],
  "shards without the functions": ["if hasFunctions() && isShardIndex", "if isShardIndex"],
  "undos anywhere": ["&& undoes(get(entryPath()).data.shard, shard)", ""],
  "undos of any like in shard 0": ["(shard == '0' && counted == 'direct' &&", "(shard == '0' &&"],
  "undos of direct likes in any shard": ["(shard == '0' && counted == 'direct' &&", "(counted == 'direct' &&"],
  "undos in the document and in shard 0": ["&& !isWrittenNow('direct'))", ")"],
  "direct likes deleted without an undo": ["|| (shard == 'direct' && isWrittenNow('0'))", "|| shard == 'direct'"],
  "replays of direct increments": ["window.nonces.size() == size + 1", "window.nonces.size() >= size"],
};

const ALL_WEAKENED = {
  counting: WEAKENED,
  limited: WEAKENED_LIMITS,
  stock: WEAKENED_STOCK,
  old: WEAKENED_OLD,
  direct: WEAKENED_DIRECT,
};
const weakened = Object.entries(ALL_WEAKENED).flatMap(([part, edits]) =>
  Object.entries(edits).map(([name, edit]) => [name, part as Part, ...edit] as const),
);

describe("the fuzzer finds rules that accept", { tags: "nightly" }, () => {
  let sent = 0;
  test.each(weakened)(
    "%s",
    async (name, part, from, to) => {
      const rules = RULES.replace(from, to);
      expect(rules, "the rules have no such text to replace").not.toBe(RULES);
      const statistics = new Statistics();
      const found = await fuzz(`${PROJECT}-weakened-${sent}`, rules, part, statistics, WORLDS_TO_FIND, false);
      sent += statistics.sent;
      console.log(`  ${statistics.sent} batches  ${name}: ${found?.split("\n")[0]?.slice(0, 160)}`);
      expect(found).toBeDefined();
    },
    300_000,
  );
});
