/**
 * What the last build was made from, and what it has made: hashes of both, in client/types, which is not shipped. The tests and each part
 * of CI build first, mostly without a change.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";

const RECORD = "client/types/build.json";

/** All that the build reads, and more: a change that does not matter costs a build, a change that is missed costs a wrong test. */
const INPUTS = [
  "{core,client,firestore,admin,functions,costs,cli}/{src/**/*,*.json}",
  "web/{src/**/*,public/**/*,*.*}",
  "scripts/{build,buildRecord,declarations,entries}.ts",
  "{package-lock,tsconfig,package,firestore.indexes}.json",
  "{LICENSE,firestore.rules}",
  "{cli/samples,ops}/**/*",
];

const OUTPUTS = [
  "client/dist/**/*",
  "client/types/**/*",
  "functions/lib/**/*",
  "web/dist/**/*",
  "client/{LICENSE,firestore.*,{samples,ops}/**/*}",
];

/** Whether nothing has changed since the last build: neither what it reads, nor what it has written. */
export function isUpToDate(): boolean {
  return existsSync(RECORD) && readFileSync(RECORD, "utf8") === currentState();
}

export function recordBuild(): void {
  writeFileSync(RECORD, currentState());
}

function currentState(): string {
  return JSON.stringify({ inputs: hashOf(INPUTS, /\.test\.tsx?$/), outputs: hashOf(OUTPUTS), node: process.version });
}

/** A hash of the names and the contents of files. */
function hashOf(patterns: readonly string[], excluded?: RegExp): string {
  const hash = createHash("sha256");
  const entries = globSync(patterns, { withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => `${parentPath}/${name}`);
  for (const file of files.sort()) {
    if (file.endsWith(RECORD) || excluded?.test(file)) continue;
    hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}
