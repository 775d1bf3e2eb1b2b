/**
 * The Android client is compiled by Kotlin's compiler. Its planner answers the questions of the conformance kit. Its second
 * part is compiled and run against declarations of ours of what it uses of the Firestore SDK (`android/`), which is not here.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CLIENTS } from "../../mobile/conformance/planner.ts";
import { conform } from "../../mobile/conformance/run.ts";
import { compileKotlin, runKotlin } from "../../mobile/conformance/toolchains.ts";

const folder = mkdtempSync(join(tmpdir(), "tally-kotlin-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DECLARATIONS = globSync("test/mobile/android/*.kt");

function scenarios(name: string, change: (source: string) => string = (source) => source): string[] {
  const client = join(folder, "Tally.kt");
  const source = readFileSync(CLIENTS.kotlin, "utf8");
  const changed = change(source);
  if (name !== "client") expect(changed).not.toBe(source);
  writeFileSync(client, changed);
  const jar = join(folder, `${name}.jar`);
  compileKotlin([client, ...DECLARATIONS], jar);
  const [program, ...args] = runKotlin(jar, "ScenariosKt");
  return execFileSync(program, args, { encoding: "utf8" }).trimEnd().split("\n");
}

test("the planner answers as docs/vectors.json says", () => {
  const { skipped, failed, questions, wrong } = conform("kotlin");
  // mobile/README.md promises it: where there is a Java, the compiler can be fetched.
  expect([skipped, failed]).toEqual([undefined, undefined]);
  expect(questions).toBeGreaterThan(400);
  expect(wrong).toEqual([]);
});

test("the calls of the SDK compile against our declarations, and do in each scenario what the web client does", () => {
  const lines = scenarios("client");
  expect(lines.filter((line) => !line.startsWith("ok\t"))).toEqual([]);
  expect(lines.length).toBeGreaterThan(20);
});

test("the scenarios notice a client that takes each refusal for a failure", () => {
  const broken = scenarios("broken", (source) => source.replace("if (hasMark) {", "if (hasMark && isAborted) {"));
  expect(broken.filter((line) => !line.startsWith("ok\t"))).not.toEqual([]);
});
