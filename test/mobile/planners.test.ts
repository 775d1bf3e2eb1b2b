/**
 * The mobile clients are parsed by the grammars of their languages, and their planners compared construct by construct: what
 * Kotlin's does, which runs (kotlin.test.ts), Swift's and Dart's must say in the same order.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLIENTS, type Language, plannerOf } from "../../mobile/conformance/planner.ts";
import { constructsOf, parse, syntaxErrors } from "./constructs.ts";

const LANGUAGES = Object.keys(CLIENTS) as Language[];
const PROGRAMS = ["Conformance.kt", "Conformance.swift", "conformance.dart"];
const EXAMPLES = ["PostList.kt", "PostList.swift", "post_list.dart"];

const constructs = async (language: Language, source = plannerOf(language)) =>
  constructsOf(language, await parse(language, source));
const kotlin = await constructs("kotlin");

test.each(LANGUAGES)(
  "the %s client, its program of the conformance kit and its example have no syntax errors",
  async (language) => {
    const nth = LANGUAGES.indexOf(language);
    for (const file of [CLIENTS[language], `mobile/conformance/${PROGRAMS[nth]}`, `mobile/examples/${EXAMPLES[nth]}`]) {
      const { rootNode } = await parse(language, readFileSync(file, "utf8"));
      expect(syntaxErrors(rootNode), file).toEqual([]);
      expect(rootNode.hasError, file).toBe(false);
    }
  },
);

describe.each(["swift", "dart"] as const)("the planner in %s", (language) => {
  test("has the constants, fields and functions of Kotlin's, and does the same in each", async () => {
    expect(Object.keys(kotlin).length).toBeGreaterThan(60);
    expect(await constructs(language)).toEqual(kotlin);
  });

  test.each<[what: string, from: RegExp, to: string]>([
    ["a constant", /(maxFactor = )512\.0/, "$1255.0"],
    ["a literal in a function", /(random\(\) \* )256/, "$1255"],
    ["the name of a field", /(['"])nonces\1/, "$1nonce$1"],
    ["an operator", /( seen|read) >= 1/, "$1 > 1"],
    ["a branch", /isRefused \|\| /, ""],
    ["a negation", /&& !fromCache/, "&& fromCache"],
    ["a grouping", /\((\S+ \+ later)\) %/, "$1 %"],
    ["a removed field", /\[plan\.expired\]/, "[plan.slot]"],
    ["the order of arguments", /min\(max\(_?shown, low\), high\)/, "min(max(low, _shown), high)"],
    ["an assignment", /( {4})_?publishedAt = asOf;?/, ""],
    [
      "a kind of value",
      /(TallyValue\.increment|TallyIncrement)\(1\)/,
      language === "swift" ? "TallyValue.whole(1)" : "TallyWhole(1)",
    ],
  ])("is no longer Kotlin's with another: %s", async (_what, from, to) => {
    const source = plannerOf(language);
    const changed = source.replace(from, to);
    expect(changed).not.toBe(source);
    expect(await constructs(language, changed)).not.toEqual(kotlin);
  });
});
