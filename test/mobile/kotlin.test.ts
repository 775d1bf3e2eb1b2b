/**
 * The Android client is compiled by Kotlin's compiler. Its planner answers the questions of the conformance kit. Its second part is
 * compiled and run against declarations of ours of what it uses of Android and of the Firestore SDK (`android/`). They are Java, as the
 * SDK is, because Kotlin checks what may be null of a Java class in another way.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLIENTS } from "../../mobile/conformance/planner.ts";
import { conform } from "../../mobile/conformance/run.ts";
import { compileJava, compileKotlin, findJava, runKotlin } from "../../mobile/conformance/toolchains.ts";

const folder = mkdtempSync(join(tmpdir(), "tally-kotlin-"));
const classes = join(folder, "classes");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DECLARATIONS = "test/mobile/android";
const source = readFileSync(CLIENTS.kotlin, "utf8");

beforeAll(() => compileJava(globSync(`${DECLARATIONS}/*/*.java`), classes));

/** Compiles the client, perhaps with a change, and the scenarios. */
function compile(name: string, change: (source: string) => string = (source) => source): string {
  const changed = change(source);
  if (name !== "client") expect(changed).not.toBe(source);
  const at = join(folder, name);
  mkdirSync(at);
  writeFileSync(join(at, "Tally.kt"), changed);
  const jar = join(at, "client.jar");
  compileKotlin([join(at, "Tally.kt"), `${DECLARATIONS}/Scenarios.kt`], jar, ["-classpath", classes]);
  return jar;
}

function failures(jar: string): { lines: string[]; failed: string[] } {
  const [program, ...args] = runKotlin(jar, "ScenariosKt", classes);
  const lines = execFileSync(program, args, { encoding: "utf8" }).trimEnd().split("\n");
  return { lines, failed: lines.filter((line) => !line.startsWith("ok\t")) };
}

/** Compiled once for several tests. */
let client: string | undefined;
function clientJar(): string {
  client ??= compile("client");
  return client;
}

test("the planner answers as docs/vectors.json says", () => {
  const { skipped, failed, questions, wrong } = conform("kotlin");
  // mobile/README.md promises it: where there is a Java, the compiler can be fetched.
  expect([skipped, failed]).toEqual([undefined, undefined]);
  expect(questions).toBeGreaterThan(400);
  expect(wrong).toEqual([]);
});

test("the calls of the SDK compile against our declarations, and do in each scenario what the web client does", () => {
  const { lines, failed } = failures(clientJar());
  expect(failed).toEqual([]);
  expect(lines.length).toBeGreaterThan(60);
});

test("the scenarios notice a client that takes each refusal for a failure", () => {
  const broken = compile("broken", (text) => text.replace("if (hasMark) {", "if (hasMark && isAborted) {"));
  expect(failures(broken).failed).not.toEqual([]);
});

test("a task of what may be null does not compile, as against the SDK", () => {
  const read = /continueWithTask \{ read ->[^}]*forResult<Timestamp>[^}]*\}/;
  const nullable = 'onSuccessTask { Tasks.forResult(it.get()?.get("at") as? Timestamp) }';
  const inferred = () => compile("inferred", (text) => text.replace(read, nullable));
  expect(inferred).toThrow(/Tally\.kt:\d+:\d+: error: .*Timestamp/);
});

/**
 * Reads the calls from the compiled classes, so it also finds those that Kotlin makes for a shorthand, and an overload that came later. It does not see
 * what Kotlin's library and the SDK call (both support API 23 themselves), fields, or types that are named without a call; and it trusts the
 * levels in the list.
 */
test("what the client calls of Java and Android is in API 23, the least that the SDK supports", () => {
  const lines = readFileSync(`${DECLARATIONS}/calls.txt`, "utf8").split("\n");
  const known = lines.map((line) => line.split(" ")).filter(([level, , by]) => Number(level) <= 23 || by === "D8");
  const jar = clientJar();
  const names = execFileSync(findJava("jar"), ["tf", jar], { encoding: "utf8" }).split("\n");
  const own = names.filter((name) => /^tally\/.*\.class$/.test(name)).map((name) => name.slice(0, -".class".length));
  const code = execFileSync(findJava("javap"), ["-c", "-p", "-cp", jar, ...own], { encoding: "utf8", maxBuffer: 1e8 });
  const called = [...code.matchAll(/\/\/ (?:Interface)?Method ((?:java|javax|android)\/\S+)/g)].map(([, call]) => call);
  expect(called.length).toBeGreaterThan(100);
  expect([...new Set(called)].filter((call) => !known.some(([, name]) => name === call))).toEqual([]);
});

test("the client compiles against the SDK's sources", { tags: "nightly" }, ({ skip }) => {
  const sdk = process.env.FIREBASE_ANDROID_DIR;
  skip(!sdk, "FIREBASE_ANDROID_DIR does not name a clone of github.com/firebase/firebase-android-sdk");
  const path = "firebase-firestore/src/main/java";
  const sources = execFileSync("git", ["-C", sdk as string, "archive", `HEAD:${path}`], { maxBuffer: 1e9 });
  const api = join(folder, "sdk");
  mkdirSync(api);
  execFileSync("tar", ["xf", "-", "-C", api], { input: sources });
  // All but Firestore's classes are declarations of ours: they are in other repositories, or in no public one.
  const others = join(folder, "others");
  compileJava(globSync(`${DECLARATIONS}/{os,tasks,firebase}/*.java`), others);
  const output = join(folder, "sdk.jar");
  compileKotlin([CLIENTS.kotlin], output, ["-classpath", others, `-Xjava-source-roots=${api}`]);
});
