/** The README's code runs on the emulators. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
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
    expect((await promisify(execFile)("node", [file])).stdout).toContain("1 views");
  } finally {
    rmSync(file);
  }
  await until(async () => (await readPublished("views:home"))?.total === 1, "the total");
});
