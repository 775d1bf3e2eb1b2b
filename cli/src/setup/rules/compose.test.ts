/** What does not need the emulator; `test/rules/composed.test.ts` compiles the same files, and asks them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { APP_RULES, type AppRules } from "../../../testing/appRules.ts";
import { healthyFacts, OWN_RULES } from "../../../testing/healthyFacts.ts";
import { checkRules } from "../../doctor/rulesChecks.ts";
import { parseDeclarations } from "../../rulesSyntax/declarations.ts";
import { tokensOf } from "../../rulesSyntax/tokens.ts";
import { addRules, readChoice, removeRules, upgradeRules } from "./compose.ts";
import type { Composed, RulesChoice } from "./composed.ts";
import { LIMITS, VISITORS } from "./sections.ts";

const VERSION = "1.2.3";
const CHOICE = {
  open: ["views"],
  once: ["likes"],
  stock: [],
  visitors: [],
  functions: [],
  hasFunctions: true,
  limits: false,
  collection: "counters",
};
const APP =
  "rules_version = '2';\nservice cloud.firestore {\n  match /databases/{database}/documents {\n    match /posts/{p} { allow read; }\n  }\n}\n";
const ACCEPTED = APP_RULES.filter(({ refused }) => !refused);

const add = (source: string | undefined, choice: Partial<RulesChoice> = {}, tally = OWN_RULES) =>
  addRules(source, tally, VERSION, { ...CHOICE, ...choice });
const added = (source: string | undefined, choice?: Partial<RulesChoice>, tally?: string) =>
  textOf(add(source, choice, tally));

function textOf(composed: Composed): string {
  if ("refused" in composed) throw new Error(composed.refused);
  return composed.text;
}

/** @throws Error if the text has it not, or twice */
function edited(text: string, before: string, after: string): string {
  expect(text.split(before), before).toHaveLength(2);
  return text.replace(before, () => after);
}

function expectReversible(source: string | undefined, choice: Partial<RulesChoice>): void {
  const rules = added(source, choice);
  expect(parseDeclarations(rules).problems).toEqual([]);
  expect(removeRules(rules)).toEqual({ text: source ?? "", warnings: [] });
  expect(added(rules, choice)).toBe(rules);
  expect(textOf(upgradeRules(rules, OWN_RULES, VERSION))).toBe(rules);
}

describe("every app's file", () => {
  test.each(ACCEPTED)("$name: `remove` undoes `init`, which repeated changes nothing", ({ source, limits = false }) => {
    expectReversible(source, { limits });
    expectReversible(source, { limits, visitors: ["views"], stock: ["tickets"], collection: "tallies" });
  });

  test.each(ACCEPTED.filter(({ warns }) => !warns))("$name: `doctor` finds nothing", ({ source, limits = false }) => {
    for (const visitors of [["views"], []]) {
      const facts = healthyFacts({ rules: { value: { source: added(source, { limits, visitors }) } } });
      // Visitors are counted only if a function merges them.
      const functions = visitors.length > 0 ? facts.functions : { value: [] };
      expect(checkRules({ ...facts, functions })).toEqual([]);
    }
  });

  test("in any form of white space and comments", () => {
    const gap = fc.stringMatching(/^(\n|\r\n|\t|( \/\/ [}{']\n)| (\/\* [}{'] \*\/)?| {4})+$/);
    const sources = ACCEPTED.filter(({ warns }) => !warns).flatMap(({ source }) => (source ? [source] : []));
    fc.assert(
      fc.property(
        fc.constantFrom(...sources),
        fc.array(gap, { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        (source, gaps, visitors) => {
          const code = tokensOf(source).filter(({ kind }) => kind !== "comment");
          const file = code.map(({ text }, index) => text + gaps[index % gaps.length]).join("");
          expectReversible(file, { visitors: visitors ? ["views"] : [] });
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("sections", () => {
  test("are in Tally's rules by these names", () => {
    const all = added(APP, { visitors: ["views"], limits: true });
    for (const { match, functions } of [VISITORS, LIMITS]) {
      for (const name of [`match ${match}`, ...functions.map((one) => `function ${one}(`)]) expect(all).toContain(name);
    }
  });

  test.each([
    [
      { visitors: [], limits: false },
      /[vV]isitors\b(?! of several)|isVisitor|addsHash|tallyLimits|isWithinLimit\(name|isPaidByUse|isRested/,
    ],
    [{ visitors: ["v"], limits: false }, /tallyLimits|isWithinLimit\(name|isPaidByUse|isRested/],
    [{ visitors: [], limits: true }, /countsVisitors|isVisitor|addsHash/],
  ])("that were not chosen are left out: %j", (choice, absent) => {
    expect(added(APP, choice)).not.toMatch(absent);
  });

  test("all together are Tally's rules, line for line", () => {
    const defaults = {
      open: ["views"],
      once: ["likes", "votes"],
      stock: ["stock", "tickets"],
      visitors: ["views", "visitors"],
    };
    const lines = added(undefined, { ...defaults, limits: true }).split("\n");
    expect(
      lines
        .filter((line) => !/tally>|<tally|Your own rules/.test(line))
        .join("\n")
        .replace("documents {\n\n", "documents {\n"),
    ).toBe(OWN_RULES.replace("documents {\n\n", "documents {\n"));
  });
});

test("a collection that no path in rules may name is refused", () => {
  for (const collection of ["a/b", "a b", "", "été", "a'"]) {
    expect(add(APP, { collection })).toEqual({ refused: expect.stringMatching(/COLLECTION/) });
  }
});

test("the database has the name that it has in the app, unless Tally's rules use that for something else", () => {
  const named = (name: string) => added(APP.replace("{database}", `{${name}}`), { limits: true });
  expect(named("db").match(/databases\/.*?\/documents/g)).toEqual([
    "databases/{db}/documents",
    ...Array(4).fill("databases/$(db)/documents"),
  ]);
  expect(named("slot").match(/databases\/\{\w+\}/g)).toEqual(["databases/{slot}", "databases/{database}"]);
});

test("added lines are indented and end as those of the file", () => {
  const inForm = (source: string) => added(source).split("\n");
  const tabs = APP.replace(/^(?: {2})+/gm, (own) => "\t".repeat(own.length / 2)).replaceAll("\n", "\r\n");
  for (const line of inForm(tabs).slice(0, -1)) expect(line).toMatch(/^\t*(\S.*)?\r$/);
  expect(inForm(APP.replace(/^ +/gm, "$&$&"))).toContain("                return by == 1;");
  expect(inForm(APP.replace(/^ {4}/gm, "   "))).toContain("   match /counters/{counter} {");
});

describe("`init` once more", () => {
  test("sets the lists, and reads them again", () => {
    const choice = {
      ...CHOICE,
      open: ["a", "it's", "b\\c"],
      once: [],
      stock: ["s"],
      visitors: ["a"],
      limits: true,
      collection: "tallies",
    };
    const again = added(added(APP), choice);
    expect(again).toBe(
      added(APP, choice).replace(/( *\/\/ Which counters also[\s\S]*?\}\n\n)([\s\S]*?)(?= *\/\/ ── Rules)/, "$2$1"),
    );
    expect(readChoice(again)).toEqual(choice);
    expect(readChoice(added(APP))).toEqual(CHOICE);
    expect(readChoice(APP)).toBeUndefined();
    expect(readChoice(again.replace("// </tally>", ""))).toBeUndefined();
  });

  test("leaves a function that is no list any more, and says so", () => {
    const open = "counterGroup() in ['views']";
    for (const other of [
      "true",
      `${open} || isCounterOperator()`,
      "counterGroup() in [ /* new */ 'views']",
      "counterGroup() in [counter]",
    ]) {
      const own = edited(added(APP), open, other);
      const again = add(own, { open: ["pages"] });
      expect(again).toEqual({
        text: own,
        warnings: [expect.stringMatching(/^isOpen is not the list .*name there: pages$/)],
      });
    }
  });

  test("keeps comments beside a list", () => {
    const own = edited(
      added(APP),
      "return counterGroup() in ['views'];",
      "/* [ */ return counterGroup() in ['views']; // ]",
    );
    expect(added(own, { open: ["pages"] })).toBe(edited(own, "in ['views']", "in ['pages']"));
  });

  test("writes lists in the app's own form only where they change", () => {
    const own = edited(added(APP), "return counterGroup() in ['views'];", 'return counterGroup() in [\n  "views"\n ]');
    expect(added(own)).toBe(own);
    expect(added(own, { open: [] })).toBe(edited(own, '[\n  "views"\n ]', "[]"));
  });

  test("takes the rate limits out, unless a rule calls them", () => {
    const limited = added(APP, { limits: true });
    expect(added(limited)).toBe(added(APP));
    const calls = [
      edited(limited, "{ allow read; }", "{ allow read: if isWithinLimit('a', 1, 1, 1); }"),
      edited(
        limited,
        "isAllowedRate() {\n        return true;",
        "isAllowedRate() {\n        return isWithinLimit('a', 1, 1, 1);",
      ),
    ];
    for (const source of calls) {
      expect(add(source)).toEqual({
        text: edited(source, "limit in []", "limit in ['a']"),
        warnings: [expect.stringMatching(/rate limits stay.*isWithinLimit/)],
      });
    }
    expect(removeRules(calls[0] as string)).toEqual({ refused: expect.stringMatching(/^line 4: your rules call/) });
    expect(removeRules(calls[1] as string)).toEqual({ text: APP, warnings: [] });
  });
});

test("the limits are those that the app's rules call", () => {
  const limited = (calls: string, rate = "true") =>
    added(
      edited(
        added(edited(APP, "{ allow read; }", calls), { limits: true }),
        "isAllowedRate() {\n        return true",
        `isAllowedRate() {\n        return ${rate}`,
      ),
      { limits: true },
    );
  const calls = "{ allow read: if isWithinLimit(\"b\", 1, 1, 1) || isWithinLimit( /* x */ 'a', 1, 1, 1); }";
  expect(limited("{ allow read; }")).toContain("return limit in [];");
  expect(limited(calls)).toContain("return limit in [\"b\", 'a'];");
  expect(limited(calls, "isWithinLimit('claps', 1, 1, 1)")).toContain("return limit in [\"b\", 'a', 'claps'];");
  for (const name of ["counter", "'claps:' + counter", "'a' == counter ? 'x' : 'y'"])
    expect(limited(calls, `isWithinLimit(${name}, 1, 1, 1)`)).toMatch(/isLimit\(\) \{\s+return true;/);
  const byHand = edited(limited(calls), "limit in [\"b\", 'a']", "limit in ['c']");
  expect(upgradeRules(byHand, OWN_RULES, "2.0.0")).toMatchObject({ warnings: [] });
});

describe("`upgrade`", () => {
  const NEXT = edited(OWN_RULES, "slot.nonces[size].size() == 5", "window.nonces[size].size() == 6");
  const upgraded = (source: string, tally = NEXT) => upgradeRules(source, tally, "2.0.0");

  test("replaces the rules, and keeps the policy with comments and functions of the app", () => {
    const policy = `function isOpen() {
        // Since May, see https://example.com/{x}
        return counterGroup() == "views" // and no other
          || isMember();
      }

      /* ours } */ function isMember() { return request.auth.token.member; }`;
    const own = added(APP).replace(/function isOpen\(\) \{[^}]*\}/, () => policy);
    const next = upgraded(own);
    expect(next).toEqual({ text: expect.stringContaining(policy), warnings: [] });
    expect(textOf(next)).toContain("size() == 6");
    expect(textOf(next)).toContain("// <tally 2.0.0 ");
    expect(removeRules(textOf(next))).toEqual({ text: APP, warnings: [] });
  });

  test("adds functions that are new in the policy, with their comments", () => {
    const more = edited(
      NEXT,
      "      // Who operates",
      "      // New.\n      function isNew() {\n        return 1;\n      }\n\n      // Who operates",
    );
    const next = textOf(upgraded(added(APP.replaceAll("\n", "\r\n")), more));
    expect(next).toContain(
      "      // New.\r\n      function isNew() {\r\n        return 1;\r\n      }\r\n\r\n      // ── Rules:",
    );
    expect(textOf(upgraded(next, more))).toBe(next);
  });

  test("opens no group by a list that the app has deleted", () => {
    const own = added(APP).replace(/function isOpen\(\) \{[^}]*\}\n/, "");
    expect(textOf(upgraded(own))).toMatch(/function isOpen\(\) \{\n {8}return counterGroup\(\) in \[\];/);
  });

  test.each([
    [["claps"], "counterGroup() in ['claps']", 0],
    [undefined, "true", 1],
  ])("writes the groups %j into needsFunctions if it is new: %s", (needed, condition, warnings) => {
    const own = added(APP).replace(/function needsFunctions\(\) \{[^}]*\}\n/, "");
    const next = upgradeRules(own, NEXT, "2.0.0", needed);
    expect(textOf(next)).toContain(`function needsFunctions() {\n        return ${condition};`);
    expect(next).toMatchObject({ warnings: Array(warnings).fill(expect.stringMatching(/^needsFunctions is new/)) });
  });

  test("names functions of the policy that are gone, and keeps them", () => {
    const less = NEXT.replaceAll(/mostListed\(\)(?! \{)/g, "100").replace(/function mostListed[^}]*\}\n/, "");
    const next = upgraded(added(APP), less);
    expect(next).toMatchObject({
      text: expect.stringContaining("function mostListed"),
      warnings: [expect.stringMatching(/`mostListed`/)],
    });
  });

  test("names edits that are lost, by their lines", () => {
    const own = edited(added(APP), "return shard.matches('^(0|[1-9][0-9]{0,3})$');", "return true;");
    const more = edited(
      own,
      "      // Firestore bills",
      "      match /mine/{x} { allow read; }\n\n      // Firestore bills",
    );
    const same = upgradeRules(more, OWN_RULES, VERSION);
    const line = (text: string) => more.slice(0, more.indexOf(text)).split("\n").length;
    expect(same).toEqual({ text: added(APP), warnings: [expect.any(String)] });
    expect("warnings" in same && same.warnings[0]).toMatch(
      `edits are lost, among them match /mine/{x} (line ${line("match /mine")}) and function isShardIndex (line ${line("function isShardIndex")})`,
    );
    const comment = edited(added(APP), "// Firestore bills", "// We know that Firestore bills");
    expect(upgradeRules(comment, OWN_RULES, VERSION)).toEqual({
      text: added(APP),
      warnings: [expect.stringMatching(/edits are lost\. Write/)],
    });
  });

  test("takes other white space for no edit", () => {
    const own = added(APP)
      .replace(/^ {6}(?= {4}&&)/gm, "   ")
      .replaceAll("\n\n", "\n");
    expect(upgradeRules(own, OWN_RULES, VERSION)).toMatchObject({ warnings: [] });
  });

  test("warns of matches of the app that are refused by `init`", () => {
    const own = edited(added(APP), "match /posts/{p}", "match /counters/{c} { allow write; }\n    match /posts/{p}");
    expect(upgraded(own)).toMatchObject({
      warnings: [expect.stringMatching(/^your rules let clients write .*\(line 4\)/)],
    });
    expect(add(own)).toMatchObject({ refused: expect.stringMatching(/\(line 4\)\. Delete what/) });
  });

  test.each([
    ["a heading of the policy is missing", (own: string) => own.replace(/.*── Policy.*\n/, ""), /its two headings/],
    ["the other heading is missing", (own: string) => own.replace(/.*── Rules:.*\n/, ""), /its two headings/],
    [
      "code stands before a marker",
      (own: string) => own.replace("    // <tally", "allow read; // <tally"),
      /line 6\), which needs a line/,
    ],
    ["there are two blocks", (own: string) => own + own, /damaged \(line 6, \d+, \d+ and 1 more\)/],
    [
      "the markers are in another match",
      (own: string) =>
        own.replace("    // <tally", "match /x/{y} {\n    // <tally").replace("</tally>\n", "</tally>\n}\n"),
      /line 7\) do not stand in/,
    ],
    [
      "a bracket is missing in the rules",
      (own: string) => own.replace("function isShardIndex(shard) {", ""),
      /closes nothing/,
    ],
    [
      "the counters have no match",
      (own: string) => own.replace("match /counters/{counter}", "match /counters/{c}"),
      /no match of the counters/,
    ],
    [
      "a function of the app has a name that is Tally's",
      (own: string) => own.replace("function isOpen", "function hasEntries() { return 1; }\n function isOpen"),
      /`hasEntries`.* Rename yours/,
    ],
    ["nothing is there", () => APP, /no rules between Tally's markers.*init/],
  ])("is refused if %s", (_, edit, reason) => {
    expect(upgraded(edit(added(APP)))).toEqual({ refused: expect.stringMatching(reason) });
  });
});

test("Tally's rules that were pasted by hand are told with what to do", () => {
  expect(add(OWN_RULES)).toEqual({
    refused: expect.stringMatching(/shards\/\{shard\} \(line \d+\), .*pasted by hand/),
  });
});

describe("`remove`", () => {
  test("keeps a file without markers, and says so", () => {
    expect(removeRules(APP)).toEqual({ text: APP, warnings: [expect.stringMatching(/by hand/)] });
  });

  test("warns if no rule is left", () => {
    const own = edited(added(APP), "    match /posts/{p} { allow read; }\n", "");
    expect(removeRules(own)).toMatchObject({ warnings: [expect.stringMatching(/^line 3: match .* is empty now/)] });
  });

  test("leaves the lines of an app that has moved the markers as they are", () => {
    const rules = added(APP);
    const block = rules.slice(rules.indexOf("    // <tally"), rules.indexOf("</tally>\n") + 9);
    const moved = edited(edited(rules, `\n${block}`, ""), "    match /posts", `${block}    match /posts`);
    expect(textOf(upgradeRules(moved, OWN_RULES, VERSION))).toBe(moved);
    expect(removeRules(moved)).toEqual({ text: APP, warnings: [] });
    const commented = edited(APP, "allow read; }\n", "allow read; } // all\n").replace("\n  }\n}", "\n}\n}");
    expect(removeRules(added(commented).replace("\n\n    // <tally", "\n    // <tally"))).toEqual({
      text: commented,
      warnings: [],
    });
  });
});

test("each file that is refused keeps its reason", () => {
  for (const { source, refused, limits = false } of APP_RULES.filter(
    (app): app is AppRules & { refused: RegExp } => !!app.refused,
  )) {
    expect(add(source, { limits })).toEqual({ refused: expect.stringMatching(refused) });
  }
});
