/** The `firebase.json` of an app. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FirebaseJson } from "../../cli/src/nearestFirebaseJson.ts";
import { parseJson } from "../../cli/src/setup/json.ts";

/** @returns `undefined` if there is none, or it is no JSON: then the deployment fails, and tells that */
export function readFirebaseJson(folder: string): FirebaseJson | undefined {
  try {
    return parseJson(readFileSync(join(folder, "firebase.json"), "utf8")) as FirebaseJson | undefined;
  } catch {
    return undefined;
  }
}
