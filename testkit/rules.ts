import { readFileSync } from "node:fs";

/** The rules as they are. */
const DEFAULT_RULES = readFileSync(new URL("../firestore.rules", import.meta.url), "utf8");

/** The groups of the deployments of tests and demo that have windows, a history, or mirrors. */
export const CHOSEN = {
  windows: ["windows", "score", "views", "departures"],
  history: ["history", "views", "departures"],
  mirrors: ["comments", "mirrored"],
  bridged: ["visits", "stars", "members", "reads"],
};

/** The function of the policy that names these groups. */
export const NEEDS_FUNCTIONS = policyFunction(
  "needsFunctions",
  `counterGroup() in ${JSON.stringify([...new Set(Object.values(CHOSEN).flat())])}`,
);

/**
 * The rules of most tests: every group that no function of the policy names is open, and every client sums shards. So a test has groups of its
 * own. What the default policy closes is tested in test/rules.
 */
export const OPEN_RULES = [
  policyFunction("isOpen", "true"),
  policyFunction("maySumShards", "true"),
  NEEDS_FUNCTIONS,
].reduce(withPolicy, DEFAULT_RULES);

function policyFunction(name: string, answer: string): string {
  return `function ${name}() {\n        return ${answer};\n      }`;
}

/** Rules with a function of the policy in place of the one of the same name. */
export function withPolicy(rules: string, edit: string): string {
  const name = /^function (\w+)\(/.exec(edit)?.[1];
  const place = new RegExp(`^ {6}function ${name}\\([\\s\\S]*?\\n {6}\\}\\n`, "m");
  if (!place.test(rules)) throw new Error(`firestore.rules has no function to replace by this edit:\n${edit}`);
  return rules.replace(place, () => `      ${edit}\n`);
}

/** Replaces the security rules of a project in the emulator, at once. @throws Error if they do not compile */
export async function loadRules(project: string, rules: string): Promise<void> {
  const host = process.env.FIRESTORE_EMULATOR_HOST;
  const loaded = await fetch(`http://${host}/emulator/v1/projects/${project}:securityRules`, {
    method: "PUT",
    body: JSON.stringify({ rules: { files: [{ name: "firestore.rules", content: rules }] } }),
  });
  if (!loaded.ok) throw new Error(`the emulator refuses these rules: ${await loaded.text()}`);
}
