/** docs/deployment.md quotes the Firebase CLI as it prints, names the APIs that it enables, and the roles that the functions need. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const document = readFileSync("docs/deployment.md", "utf8");
const cli = (file: string) => readFileSync(`node_modules/firebase-tools/lib/${file}.js`, "utf8");

/** Code joins strings over several lines. */
const joined = (code: string) => code.replace(/["`] \+\s*["`]/g, "").replaceAll("\\'", "'");

test("the words of the CLI are those of its code", () => {
  const code = globSync("node_modules/firebase-tools/lib/{deploy/functions,gcp}/**/*.js")
    .map((file) => joined(readFileSync(file, "utf8")))
    .join("\n");
  const cells = [...document.matchAll(/^\| \d+\. .*? \| `(.*?)` +\|/gm)].map(([, words = ""]) => words);
  expect(cells.length).toBeGreaterThan(6);
  for (const words of [...cells, "Unable to set the invoker for the IAM policy on the following functions:"]) {
    expect(document).toContain(words);
    expect(code).toContain(words.replace(/ …$/, ""));
  }
});

test("the APIs are those that the CLI enables for functions with triggers, a queue and a schedule, and for Firestore", () => {
  const [, told = ""] = /\*\*APIs\.\*\*([\s\S]*?)\. Every feature/.exec(document) ?? [];
  const [, standard = ""] = /STANDARD_APIS = \[([^\]]*)\]/.exec(cli("deploy/functions/prepare")) ?? [];
  const enabled = [...standard.matchAll(/"(\w+)\.googleapis\.com"/g)].map(([, api]) => api);
  const unused = ["runtimeconfig", "secretmanager"];
  const wanted = [...enabled.filter((api) => !unused.includes(api as string)), "firestore"];
  expect([...told.matchAll(/`(\w+)`/g)].map(([, api]) => api)).toEqual(wanted.toSorted());
});

test("the roles are those of a counter in docs/configuration.md, and one for builds", () => {
  const [, loop = ""] = /^for role in (.*); do$/m.exec(document) ?? [];
  const granted = loop.split(" ").map((role) => `roles/${role}`);
  granted.push(...[...document.matchAll(/--role (roles\/[\w.]+)$/gm)].map(([, role = ""]) => role));
  const table = [...readFileSync("docs/configuration.md", "utf8").matchAll(/^ {2}\| `(roles\/[\w.]+)`/gm)];
  const needed = table.map(([, role = ""]) => role).filter((role) => !role.endsWith(".publisher"));
  expect(granted.toSorted()).toEqual([...needed, "roles/cloudbuild.builds.builder"].toSorted());
});
