/** The README's plain program runs as it stands, in an app that has called `initializeApp`. test/browser runs its React component. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

test("the program shows its own view, which is counted", async () => {
  const [host, port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
  const config = JSON.stringify({ projectId: process.env.GCLOUD_PROJECT, apiKey: "any" });
  const file = "test/start.generated.mjs";
  writeFileSync(
    file,
    [
      'import { initializeApp } from "firebase/app";',
      'import { connectFirestoreEmulator } from "firebase/firestore";',
      `initializeApp(${config});`,
      `connectFirestoreEmulator(getFirestore(), "${host}", ${port});`,
      "setTimeout(() => process.exit(1), 20_000);",
      "const [print, printed] = [console.log, new Set()];",
      "console.log = (line) => { print(line); printed.add(line); };",
      readFileSync("examples/start/views.ts", "utf8"),
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
