/**
 * Throws random batches of writes at the rules. An oracle that knows nothing of the rules says what each accepted batch
 * must have done. `TALLY_SEED=… ` replays a run.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { anyStep, entry, like, makeBatch, type Scene, type Step } from "./fuzz/batches.ts";
import { genesis, judge, numberOf, place } from "./fuzz/oracle.ts";
import { ADMIN, type Database, database, type User, type World, type Write } from "./fuzz/rest.ts";

const PROJECT = "demo-tally-fuzz";
const RULES = readFileSync("firestore.rules", "utf8");
const SEED = Number(process.env.TALLY_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Worlds that are played side by side, each on counters of its own. */
const LANES = 4;
/** Worlds that a lane plays one after another, each with up to so many batches. */
const WORLDS = 20;
const BATCHES = 40;
/** The same for weakened rules, where the first find ends it: most are found within ten. */
const WORLDS_TO_FIND = 120;

beforeAll(() => console.log(`fuzz: TALLY_SEED=${SEED}`));

/** How many batches of each kind were thrown, and how many of them were accepted. */
class Tally {
  thrown = 0;
  accepted = 0;
  readonly kinds = new Map<string, { thrown: number; accepted: number }>();

  count({ gestures, spoils }: Step, accepted: boolean): void {
    const kinds =
      spoils.length > 0 ? spoils.map(({ how }) => `spoilt: ${how}`) : [gestures.map((it) => it.do).join("+")];
    this.thrown++;
    if (accepted) this.accepted++;
    for (const kind of new Set(kinds)) {
      const so = this.kinds.get(kind) ?? { thrown: 0, accepted: 0 };
      this.kinds.set(kind, { thrown: so.thrown + 1, accepted: so.accepted + Number(accepted) });
    }
  }

  /** @returns every kind that was accepted at least once; the others are lumped together */
  report(): string {
    const kinds = [...this.kinds].sort(([, a], [, b]) => b.accepted - a.accepted || b.thrown - a.thrown);
    const reached = kinds.filter(([, { accepted }]) => accepted > 0);
    const never = kinds.slice(reached.length).reduce((sum, [, { thrown }]) => sum + thrown, 0);
    const lines = reached.map(([kind, { accepted, thrown }]) => `  ${accepted} of ${thrown}  ${kind}`);
    return [...lines, `  0 of ${never}  ${kinds.length - reached.length} other kinds`].join("\n");
  }
}

/** The rules have accepted what they must not. Tells all it takes to see it happen. */
class Violation extends Error {
  constructor(fault: string, user: User, writes: readonly Write[], world: World) {
    const before = Object.fromEntries(Object.entries(world).filter(([path]) => writes.some((it) => it.path === path)));
    super(`accepted as ${user ?? "nobody"}, but ${fault}:\n${JSON.stringify({ user, writes, before }, null, 1)}`);
  }
}

let worlds = 0;

/** Throws one batch after another at a new world. @throws Violation */
async function play(db: Database, history: readonly Step[], tally: Tally): Promise<void> {
  const where = place(`${process.pid}x${worlds++}`);
  await db.commit(ADMIN, genesis(where));
  const scene: Scene = { ...where, world: await db.read(where.paths), turn: 0 };
  for (const step of history) {
    const { user } = step;
    const before = scene.world;
    const writes = makeBatch(step, scene);
    if (writes.length === 0) continue;
    const from = Date.now();
    const accepted = (await db.commit(user, writes)) === 200;
    const span = { from, to: Date.now() };
    tally.count(step, accepted);
    if (!accepted) continue;
    const after = await db.read(where.paths);
    const fault = judge(where, before, after, user, writes, span);
    if (fault) throw new Violation(fault, user, writes, before);
    if ((await db.commit(user, writes)) === 200) throw new Violation("so is its replay", user, writes, before);
    scene.world = after;
  }
}

/** @returns what was found first, if anything, after throwing batches at as many worlds as the constants above say */
async function fuzz(project: string, rules: string, tally: Tally, shrink: boolean): Promise<string | undefined> {
  const db = await database(project, rules);
  const history = fc.array(anyStep, { minLength: 1, maxLength: BATCHES, size: "max" });
  let isFound = false;
  const holds = fc.asyncProperty(history, async (steps) => {
    if (isFound && !shrink) return;
    await play(db, steps, tally).catch((error) => {
      isFound = true;
      throw error;
    });
  });
  const runs = Array.from({ length: LANES }, (_, lane) =>
    fc.check(holds, {
      seed: SEED + lane * 1_000_003,
      numRuns: shrink ? WORLDS : WORLDS_TO_FIND,
      endOnFailure: !shrink,
    }),
  );
  const failed = (await Promise.all(runs)).find((run) => run.failed);
  return failed && String((failed.errorInstance as Error).message);
}

test("whatever the rules accept, counts once, for who sent it, and is refused when it is sent again", async () => {
  const tally = new Tally();
  const start = performance.now();
  const found = await fuzz(PROJECT, RULES, tally, true);
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(`fuzz: ${tally.thrown} batches in ${seconds} s, ${tally.accepted} accepted\n${tally.report()}`);
  expect(found).toBeUndefined();
  expect(tally.thrown).toBeGreaterThan(900);
  expect(tally.accepted / tally.thrown).toBeGreaterThan(0.15);
}, 120_000);

test("commits of the same millisecond do not pass for each other", async () => {
  const db = await database(PROJECT, RULES);
  const { keyed, ...where } = place(`${process.pid}x${worlds++}`);
  const scene: Scene = { ...where, keyed, world: {}, turn: 0 };
  const users = Array.from({ length: 200 }, (_, n) => `user${n}`);
  const paths = [`${keyed}/shards/0`, ...users.map((user) => `${keyed}/entries/${user}`)];
  const sendAll = (batches: [user: string, writes: Write[]][]) =>
    Promise.all(batches.map(([user, writes]) => db.commit(user, writes)));
  let refused = 0;
  for (let n = 0; n < users.length; n += 20) {
    const here = users.slice(n, n + 20);
    // Half of them like, and some undo that later; the others only pretend to: no increment, no undo.
    const [honest, cheats] = [here.slice(0, 10), here.slice(10)];
    await sendAll(cheats.slice(0, 5).map((user) => [user, like(scene, user, "0")]));
    const statuses = await sendAll([
      ...honest.flatMap((user, i): [string, Write[]][] => [
        [user, like(scene, user, "0")],
        [
          cheats[i] as string,
          i < 5 ? [{ path: `${keyed}/entries/${cheats[i]}`, delete: true }] : [entry(keyed, cheats[i] as string, "0")],
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
 * Ways to weaken the rules, as replacements in their text. Each must be found with as many batches.
 *
 * Three parts of the rules cannot be missed here. `isOnlyShardWrite`: the emulator judges all writes of one document in a commit
 * as one, so no second one goes unseen. That entries are not updated: no shard may be written while an entry stays. And
 * `existsAfter` of the increment and `exists` of the undo: without an entry, the lines that follow fail, too.
 */
const WEAKENED: Record<string, [from: string | RegExp, to: string]> = {
  "any amount, up": [/(isAllowedAmount\(counter, by\) \{\n +return by) == 1/, "$1 > 0"],
  "any amount, down": [/(isAllowedAmount\(counter, by\) \{\n +return by) == 1/, "$1 <= 1"],
  "any keyed amount": [/(isAllowedKeyedAmount\(counter, by\) \{\n +return by) == 1/, "$1 is number"],
  "counts that are no integers": ["(count is int || (count is float && before is float))", "count is number"],
  "any shard id": [/if isShardIndex\(shard\) &&/, "if"],
  "leading zeros": ["^(0|[1-9][0-9]{0,3})$", "^[0-9]{1,4}$"],
  "more shards": ["[0-9]{0,3})$", "[0-9]{0,4})$"],
  "shards are deleted": [
    "allow create, update: if isShardIndex",
    "allow delete; allow create, update: if isShardIndex",
  ],
  "keyed counters are open": ["? isKeyedIncrement(counter", "? added() == 1 || isKeyedIncrement(counter"],
  "open counters have entries": ["allow create: if isKeyed(counter) && isOwn", "allow create: if isOwn"],
  "entries of others are made": ["isOwn(key) && isEntry(counter)", "isEntry(counter)"],
  "entries of others are deleted": [
    "allow delete: if isKeyed(counter) && isOwn(key)",
    "allow delete: if isKeyed(counter)",
  ],
  "entries without an increment": [/&& isWrittenNow\(counter, entry\.shard\)/, ""],
  "entries deleted without an undo": [/&& isWrittenNow\(counter, resource\.data\.shard\)/, ""],
  "entries with a time of their own": ["&& entry.at == request.time", ""],
  "entries with foreign fields": ["entry.keys().hasOnly(['by', 'shard', 'at'])", "true"],
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
  "marks in several windows": [
    /.*affectedKeys\(\)\.size\(\) == 1\n(.*\n).*windows\.size\(\) == 1\n/,
    "&& after.diff(before).affectedKeys().size() >= 1\n$1",
  ],
  "windows that are removed by an increment": [
    /.*diff\(before\)\.affectedKeys\(\)\.size\(\) == 1\n.*removedKeys\(\).*\n/,
    "&& after.diff(before).addedKeys().size() + after.diff(before).changedKeys().size() == 1\n",
  ],
  "windows of any name": ["&& after.keys().hasOnly(windowNames())", ""],
  "windows with foreign fields": ["window.keys().hasOnly(['at', 'nonces'])", "true"],
  "windows with a time of their own": ["&& window.at == request.time", ""],
  "replays, and any number of nonces": ["&& window.nonces.size() == size + 1", "&& window.nonces.size() > 0"],
  replays: ["window.nonces.size() == size + 1", "window.nonces.size() >= size"],
  "nonces in place of others": ["&& (size == 0 || window.nonces[0:size] == nonces)", ""],
  "nonces that are no bytes": [
    "window.nonces[size] is bytes && window.nonces[size].size() == 4",
    "(!(window.nonces[size] is bytes) || window.nonces[size].size() == 4)",
  ],
  "nonces of any size": ["&& window.nonces[size].size() == 4", ""],
  "tidies that change other fields": ["after.diff(before).affectedKeys().hasOnly(['marks'])", "true"],
  "tidies that remove nothing": ["&& windows.size() < marks.size()", ""],
  "tidies that add a window": ["&& windows.diff(marks).addedKeys().size() == 0", ""],
  "tidies that change a window": ["&& windows.diff(marks).changedKeys().size() == 0", ""],
  "tidies of young windows": ["before[name].at + duration.value(2, 'm') < request.time", "true"],
  "tidies of one young window": ["&& isKeptOrExpired(marks, windows, '3')", ""],
  "increments though there is an entry": ["&& !exists(entryPath(counter))", ""],
  "increments that need no entry": [/&& existsAfter\(entryPath.*\n.*data\.shard == shard\n.*data\.by == by/, ""],
  "increments on another shard than the entry's": ["&& getAfter(entryPath(counter)).data.shard == shard", ""],
  "increments by another amount than the entry's": ["&& getAfter(entryPath(counter)).data.by == by", ""],
  "undos that need no entry": [
    /&& exists\(entryPath(.*\n.*)\n.*data\.shard == shard\n.*data\.by == -by/,
    "&& by == -1 && !exists(entryPath$1",
  ],
  "undos that leave the entry": ["&& !existsAfter(entryPath(counter))", ""],
  "undos on another shard than the entry's": ["&& get(entryPath(counter)).data.shard == shard", ""],
  "undos by another amount than the entry's": ["&& get(entryPath(counter)).data.by == -by", ""],
};

describe("the fuzzer finds it if the rules accept", () => {
  let thrown = 0;
  test.each(Object.entries(WEAKENED))("%s", async (name, [from, to]) => {
    const rules = RULES.replace(from, to);
    expect(rules, "the rules no longer have what was to be replaced").not.toBe(RULES);
    const tally = new Tally();
    const found = await fuzz(`${PROJECT}-weakened-${thrown}`, rules, tally, false);
    thrown += tally.thrown;
    console.log(`  ${tally.thrown} batches  ${name}: ${found?.split("\n")[0]?.slice(0, 160)}`);
    expect(found).toBeDefined();
  });
});
