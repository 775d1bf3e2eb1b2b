/**
 * Fails if a release would deploy functions on a runtime that Google deprecates within 90 days. The release workflow runs it. The dates
 * are those of the Firebase CLI, which are those of https://cloud.google.com/functions/docs/runtime-support.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const NOTICE_DAYS = 90;

/** The Extensions service ends then (https://firebase.google.com/docs/extensions). Its 1st generation functions have no Node.js 24. */
const EXTENSIONS_END = "2027-03-31";

type Runtimes = Readonly<Record<string, { readonly deprecationDate: string }>>;
const { RUNTIMES } = createRequire(import.meta.url)(
  "firebase-tools/lib/deploy/functions/runtimes/supported/types.js",
) as { RUNTIMES: Runtimes };

const noticeEnd = new Date(Date.now() + NOTICE_DAYS * 86_400_000).toISOString();
for (const file of ["firebase.json", "extension.yaml", "cli/src/setup/firebaseJson.ts"]) {
  const named = new Set(readFileSync(file, "utf8").match(/nodejs\d+/g));
  const neededUntil = file === "extension.yaml" && EXTENSIONS_END < noticeEnd ? EXTENSIONS_END : noticeEnd;
  if (named.size === 0) throw new Error(`${file} names no runtime`);
  for (const runtime of named) {
    const date = RUNTIMES[runtime]?.deprecationDate;
    if (date !== undefined && date >= neededUntil) {
      console.log(`${file} uses ${runtime}, which Google deprecates on ${date}`);
      continue;
    }
    const problem =
      date === undefined
        ? "which the Firebase CLI does not know"
        : `which Google deprecates on ${date}, within ${NOTICE_DAYS} days`;
    console.error(`${file} uses ${runtime}, ${problem}: name a newer runtime`);
    process.exitCode = 1;
  }
}
