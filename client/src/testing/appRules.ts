/**
 * The rules of the app under test: the file that the nearest `firebase.json` names for a database, as the Firebase CLI deploys it. It is
 * looked for from the working folder upwards, up to the repository or the home folder, as `firestore-tally` does. Without it there is
 * nothing that a test could trust, so a missing file is an error.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CounterError } from "../../../core/src/index.ts";

interface FirestoreEntry {
  readonly database?: string;
  /** An entry with a target names no database. */
  readonly target?: string;
  readonly rules?: string;
}

/** @throws CounterError `counter/emulator` if there is no `firebase.json`, or it names no rules for the database */
export function readAppRules(folder: string, database: string): string {
  const path = join(folder, "firebase.json");
  const text = readIfThere(path);
  if (text === undefined) {
    const isOutermost = existsSync(join(folder, ".git")) || folder === homedir() || folder === dirname(folder);
    if (!isOutermost) return readAppRules(dirname(folder), database);
    throw refuse(`no firebase.json in ${process.cwd()} or a folder above`);
  }
  const entries: FirestoreEntry[] = [parse(path, text).firestore ?? []].flat();
  const named = entries.find((entry) => !entry.target && (entry.database ?? "(default)") === database);
  const rules = named?.rules;
  if (typeof rules !== "string") throw refuse(`${path} names no rules of the database "${database}"`);
  const content = readIfThere(join(folder, rules));
  if (content === undefined) throw refuse(`${path} names the rules ${rules}, and there is no such file`);
  return content;
}

/** JSON with comments, as the Firebase CLI reads it. */
function parse(path: string, text: string): { readonly firestore?: FirestoreEntry | FirestoreEntry[] } {
  try {
    return JSON.parse(text.replace(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g, "$1")) ?? {};
  } catch (error) {
    throw new CounterError("counter/emulator", `${path} is no JSON; correct it, then try again`, error);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function refuse(problem: string): CounterError {
  return new CounterError(
    "counter/emulator",
    `${problem}; name the file of your rules in firebase.json, or pass their text, { rules }; { packageRules: true } loads ` +
      "those of firestore-tally",
  );
}
