import { expect, test } from "vitest";
import { healthyFacts, OWN_RULES } from "../../testing/healthyFacts.ts";
import { checkRules, POLICY } from "./rulesChecks.ts";

const ids = (source: string | null, collection = "counters") => {
  const target = { ...healthyFacts().target, collection };
  const rules = { value: source === null ? null : { source } };
  return checkRules(healthyFacts({ target, rules })).map(({ id }) => id);
};
const beside = (match: string) => OWN_RULES.replace("    match /counters/", `    ${match}\n    match /counters/`);

test("the policy is what stands at the top of the rules", () => {
  const [top = ""] = OWN_RULES.split("// ── Rules:");
  const names = [...top.matchAll(/function (\w+)/g)].map(([, name]) => name);
  // The limits stand beside the counters.
  expect([...names, "isLimit"]).toEqual(POLICY);
});

test("rules of this version are right, also in another order, for another collection and with an edited policy", () => {
  expect(ids(OWN_RULES)).toEqual([]);
  expect(ids(OWN_RULES.replaceAll("/counters/", "/tallies/"), "tallies")).toEqual([]);
  expect(ids(OWN_RULES.replace("return by == 1;", "return by is int && by >= 1 && by <= 5;"))).toEqual([]);
  const [, group = ""] = /( {6}function counterGroup[^}]*\}\n)/.exec(OWN_RULES) ?? [];
  expect(ids(OWN_RULES.replace(group, "").replace("      // ── Policy", `${group}      // ── Policy`))).toEqual([]);
});

test.each([
  "return shard.matches('^(0|[1-9][0-9]{0,3})$');",
  "&& isCount(after.count, before.get('count', 0))",
  "allow create: if hasEntries() && isOwnEntry(once) && isEntry();",
])("without %s they are outdated", (part) => {
  expect(OWN_RULES).toContain(part);
  expect(ids(OWN_RULES.replace(part, ""))).toEqual(["rules-outdated"]);
});

test.each([
  ["match /{document=**} { allow read, write; }", ["rules-open"]],
  ["match /{document=**} { allow write: if true; }", ["rules-open"]],
  ["match /{document=**} { allow update: if request.auth != null; }", ["rules-open"]],
  ["match /{document=**} { allow write: if request.time < timestamp.date(2027, 1, 1); }", ["rules-open"]],
  [
    "match /{document=**} { allow write: if isSignedIn(); } function isSignedIn() { return request.auth != null; }",
    ["rules-open"],
  ],
  ["match /{any}/{document=**} { allow create: if true; }", ["rules-open"]],
  ["match /counters/{counter}/{below=**} { allow delete: if true; }", ["rules-open"]],
  ["match /{document=**} { allow write: if isOperator(); }", ["rules-overlap"]],
  ["match /{document=**} { allow read: if true; }", ["rules-read-open"]],
  ["match /{path=**}/tallyVisitors/{bucket} { allow write: if true; }", ["rules-open"]],
  ["match /{path=**}/tallySketches/{sketch} { allow read: if true; }", ["rules-read-open"]],
  ["match /{path=**}/tallyItemCounts/{id} { allow write: if true; }", ["rules-open"]],
  ["match /{path=**}/tallyOutbox/{id} { allow read: if true; }", ["rules-read-open"]],
  ["match /{document=**} { allow read, write }", ["rules-open"]],
  ["match /tallyReceipts/{id} { allow delete: if true; }", ["rules-open"]],
  ["match /tallyServerLimits/{name}/{below=**} { allow write: if isOperator(); }", ["rules-overlap"]],
  [
    "match /{document=**} { allow read: if false allow write: if isSignedIn() } function isSignedIn() { return true }",
    ["rules-open"],
  ],
  ["} match /{document=**} { allow write: if true; } match /databases/{other}/documents {", ["rules-open"]],
  ["} match /databases/{other}/{document=**} { allow write; } match /databases/{other}/documents {", ["rules-open"]],
  [
    "} match /databases/(default)/documents/{document=**} { allow write; } match /databases/{other}/documents {",
    ["rules-open"],
  ],
  ["match /{document=**} { allow read, write: if false; }", []],
  ["match /posts/{document=**} { allow write: if true; }", []],
  ["match /counter/{id} { allow write: if true; }", []],
] as const)("beside %s: %j", (match, found) => {
  expect(ids(beside(match))).toEqual(found);
});

test("rules of another service do not count", () => {
  expect(ids(`${OWN_RULES}service firebase.storage { match /{all=**} { allow read, write; } }`)).toEqual([]);
});

test("a section that was left out is missing only if a function needs it", () => {
  const visitors =
    /.*Which counters also count(?:.*\n)*?.*\}\n\n|.*No client reads buckets(?:.*\n)*?.*\}\n\n|.*── Visitors(?:.*\n)*?(?= {4}\}\n)/g;
  const limits = / {4}\/\/ ── Rate limits[\s\S]*(?= {2}\}\n\}\n$)/;
  expect(ids(OWN_RULES.replace(limits, ""))).toEqual([]);
  const source = OWN_RULES.replaceAll(visitors, "");
  expect(source).not.toMatch(/isVisitor|addsHash/);
  expect(ids(source)).toEqual(["rules-policy", "rules-outdated"]);
  expect(checkRules(healthyFacts({ rules: { value: { source } }, functions: { value: [] } }))).toEqual([]);
});
