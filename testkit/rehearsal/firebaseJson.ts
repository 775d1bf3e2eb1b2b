/** What an app's `firebase.json` says of its databases. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";

export interface NamedDatabase {
  readonly database: string;
  readonly location?: string;
  readonly edition?: string;
}

/** @returns an entry for each database, in the file's order; none without a file */
export function databasesIn(folder: string): NamedDatabase[] {
  let config: { firestore?: unknown };
  try {
    // The CLI allows comments: firebase-tools/lib/loadCJSON.js
    config = parse(readFileSync(join(folder, "firebase.json"), "utf8"));
  } catch {
    return [];
  }
  const entries = [config?.firestore ?? []].flat() as Partial<NamedDatabase>[];
  return entries.map((one) => ({ ...one, database: one.database ?? "(default)" }));
}
