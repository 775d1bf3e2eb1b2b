/** docs/deployment.md quotes the Firebase CLI as it prints, names the APIs that it enables, and the roles that the functions need. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ACT_AS, neededRoles } from "../../functions/src/decisions.ts";

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

test("the roles are those that the functions declare", () => {
  const [, loop = ""] = /^for role in (.*); do$/m.exec(document) ?? [];
  const granted = [...loop.split(" ").map((role) => `roles/${role}`), ACT_AS];
  expect(document).toContain(`serviceAccount:<account> --role ${ACT_AS}\n`);
  expect(new Set(granted)).toEqual(new Set(neededRoles({}, false).keys()));
  const table = [...readFileSync("docs/configuration.md", "utf8").matchAll(/^ {2}\| `(roles\/[\w.]+)`/gm)];
  const all = neededRoles({ EVENTS_TOPIC: "events", EVENTARC_CHANNEL: "channel" }, false);
  expect(new Set(table.map(([, role = ""]) => role))).toEqual(new Set(all.keys()));
});
