/** Tally's rules in the rules files of apps: both mean what they meant alone. The text itself is tested in `cli/src/setup/rules`. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { addRules } from "../../cli/src/setup/rules/compose.ts";
import type { RulesChoice } from "../../cli/src/setup/rules/composed.ts";
import { APP_RULES, type AppRules } from "../../cli/testing/appRules.ts";
import { visitorHash } from "../../core/src/index.ts";
import { type Database, database } from "./rest.ts";
import { append, increment, like, merge, set } from "./writes.ts";

const TALLY = readFileSync("firestore.rules", "utf8");
const VERSION = "0.1.0";
const PROJECT = `demo-tally-composed-${process.pid}`;
const [ACCEPTED, REFUSED] = [200, 403];

let projects = 0;
const withRules = (rules: string) => database(`${PROJECT}-${projects++}`, rules);

/** The answers to some requests for documents of the app. */
async function answersOf(db: Database): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  for (const user of [null, "alice"]) {
    for (const path of ["posts/p/comments/c", "private/x"]) {
      answers[`${user} reads ${path}`] = (await db.call(user, "GET", path)).status;
    }
    for (const path of ["posts/q", "other/y"]) {
      answers[`${user} writes ${path}`] = await db.commit(user, [set(path, { by: user })]);
    }
  }
  return answers;
}

function choiceOf({ limits }: Pick<AppRules, "limits">, changes: Partial<RulesChoice> = {}): RulesChoice {
  return {
    open: ["views"],
    once: ["likes"],
    stock: [],
    visitors: [],
    functions: [],
    hasFunctions: true,
    limits: limits ?? false,
    collection: "counters",
    ...changes,
  };
}

/** @throws Error if it was refused */
function textOf(composed: ReturnType<typeof addRules>): string {
  if ("refused" in composed) throw new Error(composed.refused);
  return composed.text;
}

describe.concurrent("Tally's rules in a file with", () => {
  test.each(APP_RULES.filter(({ refused }) => !refused))("$name", async (app) => {
    const choice = choiceOf(app);
    const added = addRules(app.source, TALLY, VERSION, choice);
    const rules = textOf(added);
    const { warnings } = added as { warnings: readonly string[] };
    expect(warnings).toEqual((app.warns ?? []).map((warning) => expect.stringMatching(warning)));
    const both = await withRules(rules);
    if (/\ballow\b/.test(app.source ?? ""))
      expect(await answersOf(both)).toEqual(await answersOf(await withRules(app.source as string)));
    expect(await both.commit(null, [increment("counters/views:x/shards/0")])).toBe(ACCEPTED);
    expect(await both.commit("alice", like("counters/likes:x", "alice"))).toBe(ACCEPTED);
    if (!app.warns?.some((warning) => /write/.test(warning.source))) {
      expect(await both.commit(null, [increment("counters/likes:x/shards/0")])).toBe(REFUSED);
      expect(await both.commit("bob", [increment("counters/likes:x/shards/0")])).toBe(REFUSED);
      expect(await both.commit("bob", [set("counters/views:x", { total: 1 })])).toBe(REFUSED);
    }
  });
});

describe.concurrent("what was chosen", () => {
  const usual = APP_RULES.find(({ name }) => name === "the usual file")?.source;

  test("all groups, another collection, visitors and limits", async () => {
    const choice = choiceOf(
      { limits: true },
      { open: ["claps", "it's"], once: ["stars"], stock: ["tickets"], visitors: ["claps"], collection: "my-counts" },
    );
    const rules = textOf(addRules(usual, TALLY, VERSION, choice));
    const limited = rules.replace(
      "match /posts/{post} {",
      "match /limited/{id} { allow create: if isWithinLimit('limited', 1, 60000, 1); }\n$&",
    );
    const db = await withRules(limited);
    expect(await db.commit(null, [increment("my-counts/claps:x/shards/0")])).toBe(ACCEPTED);
    expect(await db.commit(null, [increment("my-counts/it's:x/shards/0")])).toBe(ACCEPTED);
    expect(await db.commit(null, [increment("counters/claps:x/shards/0")])).toBe(REFUSED);
    expect(await db.commit(null, [increment("my-counts/views:x/shards/0")])).toBe(REFUSED);
    expect(await db.commit("alice", like("my-counts/stars:x", "alice"))).toBe(ACCEPTED);
    const alice = await visitorHash("alice");
    const visit = merge(`my-counts/claps:x/tallyVisitors/${alice[0]}`, { visitors: append(alice) });
    expect(await db.commit("alice", [visit])).toBe(ACCEPTED);
    expect(await db.commit("alice", [set("limited/x", {})])).toBe(REFUSED);
  });

  test("nothing at all", async () => {
    const db = await withRules(textOf(addRules(usual, TALLY, VERSION, choiceOf({}, { open: [], once: [] }))));
    expect(await db.commit(null, [increment("counters/views:x/shards/0")])).toBe(REFUSED);
    expect(await db.commit("alice", like("counters/likes:x", "alice"))).toBe(REFUSED);
    expect((await db.call(null, "GET", "counters/views:x")).status).toBe(404);
  });

  test.each([{ visitors: ["views"] }, { stock: ["tickets"], open: [] }, { limits: true }, { collection: "tallies" }])(
    "another time: %j",
    async (changes) => {
      const later = textOf(
        addRules(textOf(addRules(usual, TALLY, VERSION, choiceOf({}))), TALLY, VERSION, choiceOf({}, changes)),
      );
      const counters = "collection" in changes ? changes.collection : "counters";
      const db = await withRules(later);
      expect(await db.commit("alice", like(`${counters}/likes:x`, "alice"))).toBe(ACCEPTED);
    },
  );
});
