import { expect, test } from "vitest";
import { deployed, healthyFacts, OWN_RULES, withParameters, withPolicy } from "../../testing/healthyFacts.ts";
import { findingsOf } from "./checks.ts";
import { checkDirect } from "./directChecks.ts";
import type { ProjectFacts } from "./facts.ts";

const ids = (changes: Partial<ProjectFacts>) =>
  findingsOf(healthyFacts(changes)).map(({ severity, id }) => `${severity} ${id}`);
const MISSING = ["warning rules-needs-functions"];
const list = (groups: string) => `counterGroup() in [${groups}]`;

test.each<[string, Record<string, string>, string[]]>([
  [list(""), {}, []],
  [list("'views'"), { WINDOWS: "views", HISTORY: "views" }, []],
  [list("'views'"), { WINDOWS: "views", HISTORY: "likes" }, MISSING],
  [list(""), { MIRRORS: "likes=posts/{name}.likes" }, MISSING],
  [list("'views'"), { WINDOWS: "*" }, MISSING],
  [list("'views'"), { DIRECT: "no" }, MISSING],
  ["true", { WINDOWS: "*" }, []],
  ["isBusy()", { WINDOWS: "*" }, []],
])("needsFunctions %s with %j: %j", (needs, parameters, found) => {
  const findings = checkDirect(healthyFacts({ ...withPolicy(needs), ...withParameters(parameters) }));
  expect(findings.map(({ severity, id }) => `${severity} ${id}`)).toEqual(found);
});

test("the groups that are left out are named", () => {
  const facts = healthyFacts({ ...withPolicy(list("'likes'")), ...withParameters({ WINDOWS: "likes,views,claps" }) });
  expect(findingsOf(facts)[0]?.problem).toMatch(/leaves out views and claps, by the parameters of tally:/);
});

test("rules that say that there are no functions refuse shards if there are", () => {
  expect(ids(withPolicy(list(""), "false"))).toEqual(["error rules-without-functions"]);
});

test("a project that counts without functions misses none of what they need", () => {
  const none = { functions: { value: deployed().slice(-1) }, indexes: { value: [] }, fields: { value: [] } };
  expect(ids({ ...withPolicy(list(""), "false"), ...none })).toEqual([]);
  expect(ids({ ...withPolicy(list("")), ...none })).toContain("error functions-missing");
});

test("the policy is that of the collection, also beside the rules of another one", () => {
  const other = OWN_RULES.replaceAll("/counters/", "/tallies/").replace(/in \[\];/g, "in ['other'];");
  const views = OWN_RULES.replace(/in \[\];/g, "in ['views'];");
  const facts = (source: string) =>
    healthyFacts({ rules: { value: { source } }, ...withParameters({ HISTORY: "views" }) });
  expect(checkDirect(facts(other + views))).toEqual([]);
  expect(checkDirect(facts(views + other))).toEqual([]);
  expect(checkDirect(facts(other.replaceAll("other", "views") + OWN_RULES))).toHaveLength(1);
});
