import fc from "fast-check";
import { expect, test } from "vitest";
import { OWN_RULES } from "../../testing/healthyFacts.ts";
import { parseRules } from "./rulesSource.ts";

test("functions and matches of Tally's rules are found, each match with its whole path", () => {
  const { functions, matches } = parseRules(OWN_RULES);
  const declared = [...OWN_RULES.matchAll(/^ +function (\w+)/gm)].map(([, name]) => name);
  expect([...functions.keys()]).toEqual(declared);
  expect(matches.map(({ path }) => path)).toEqual([
    "/counters/{counter}",
    "/counters/{counter}/shards/{shard}",
    "/counters/{counter}/tallyHistory/{document}",
    "/counters/{counter}/tallyVisitors/{bucket}",
    "/counters/{counter}/tallySketches/{sketch}",
    "/counters/{counter}/tallySketches/topItems",
    "/counters/{counter}/tallyCorrections/{correction}",
    "/counters/{counter}/time/{millis}",
    "/counters/{counter}/tallyEntries/{once}",
    "/tallyLimits/{limit}/tallyUses/{uid}",
  ]);
  const statements = OWN_RULES.match(/^ +allow /gm) ?? [];
  expect(matches.flatMap(({ allows }) => allows)).toHaveLength(statements.length);
});

test("white space and comments do not count, text in strings does", () => {
  const wrapped = (body: string) =>
    parseRules(`service cloud.firestore { match /databases/{d}/documents { ${body} } }`).functions.get("f");
  const plain = wrapped("function f(a) { return a == 'x // y' && a in ['b']; }");
  expect(wrapped("function f( a )\n{\n  // why\n  return a  ==  'x // y'\n /* } */ && a in [ 'b' ] ; }")).toEqual(
    plain,
  );
  expect(wrapped("function f(a) { return a == 'x  // y' && a in ['b']; }")).not.toEqual(plain);
});

test("any change of a character outside white space and comments is noticed", () => {
  const parts = (source: string) => {
    const { functions, matches } = parseRules(source);
    return JSON.stringify([[...functions], matches]);
  };
  const code = [...OWN_RULES.matchAll(/^ +(?:return|&&|allow) .*$/gm)].map(
    ({ index, 0: line }) => [index, line] as const,
  );
  fc.assert(
    fc.property(fc.constantFrom(...code), fc.nat(), ([start, line], n) => {
      const letters = [...line.replace(/ \/\/.*/, "").matchAll(/[a-z0-9]/gi)].map(({ index }) => index);
      const at = start + (letters[n % letters.length] as number);
      const changed = `${OWN_RULES.slice(0, at)}${OWN_RULES[at] === "q" ? "z" : "q"}${OWN_RULES.slice(at + 1)}`;
      expect(parts(changed)).not.toBe(parts(OWN_RULES));
    }),
  );
});

test("unfinished rules end, whatever they hold", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(OWN_RULES.length), (more, end) => {
      parseRules(OWN_RULES.slice(0, end) + more);
    }),
  );
});
