/** What the README says, as far as a machine can tell: its code runs, its parameters and its links exist. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const readme = readFileSync("README.md", "utf8");

test("the README's client code runs as it stands", async () => {
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1] as string;
  const [host, port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
  const config = JSON.stringify({ projectId: process.env.GCLOUD_PROJECT, apiKey: "any" });
  const file = "test/readme.generated.mjs";
  writeFileSync(
    file,
    [
      'import { connectFirestoreEmulator } from "firebase/firestore";',
      `const firebaseConfig = ${config};`,
      "setTimeout(() => process.exit(1), 20_000);",
      "const [print, printed] = [console.log, new Set()];",
      "console.log = (line) => { print(line); printed.add(line); };",
      code.replace(/^(const db = .*)$/m, `$1\nconnectFirestoreEmulator(db, "${host}", ${port});`),
      "while (!printed.has('1 views')) await new Promise((resolve) => setTimeout(resolve, 20));",
      "process.exit();",
    ].join("\n"),
  );
  try {
    expect(execFileSync("node", [file], { encoding: "utf8" })).toContain("1 views");
  } finally {
    rmSync(file);
  }
  await until(async () => (await readPublished("views:home"))?.total === 1, "the total");
});

test("the README's parameters and defaults are those of extension.yaml", () => {
  const manifest = readFileSync("extension.yaml", "utf8");
  const table = readme.slice(readme.indexOf("## Configure it"));
  const rows = [...table.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) +\| +([^|]+?) +\|/gm)];
  expect(rows).toHaveLength(11);
  for (const [, names = "", defaults = ""] of rows) {
    const values = defaults.trim().replaceAll("`", "").split(", ");
    names.split(", ").forEach((name, i) => {
      const declared = new RegExp(
        `- param: ${name.replaceAll("`", "")}\\n(?:    .*\\n)*?    default: "?([^"\\n]*)"?\\n`,
      );
      expect(declared.exec(manifest)?.[1], name).toBe(values[i]);
    });
  }
});

test("every relative link of the documents leads somewhere", () => {
  for (const file of [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/architecture.md",
    "docs/data-model.md",
    "docs/configuration.md",
    "docs/costs.md",
    "docs/performance.md",
    "docs/guide.md",
    "docs/security.md",
    "docs/cli.md",
    "docs/reliability.md",
  ]) {
    const folder = file.includes("/") ? "docs/" : "";
    for (const [, link = ""] of readFileSync(file, "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      expect(existsSync(folder + link), `${file} links to ${link}`).toBe(true);
    }
  }
});
