/** Whether the database exists, is one that clients and triggers can use, and App Check guards it. */
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, warningFinding } from "./finding.ts";

export function checkDatabase({ database, target }: ProjectFacts): Finding[] {
  const found = seen(database);
  if (found === undefined) return [];
  if (found === null) {
    return [
      errorFinding(
        "database-missing",
        `the project "${target.project}" has no database "${target.database}"`,
        "name another with --database, or create it: `firebase firestore:databases:create`",
      ),
    ];
  }
  if (found.type === "FIRESTORE_NATIVE") return [];
  return [
    errorFinding(
      "database-mode",
      `the database "${target.database}" is in Datastore mode, which has neither web clients nor events`,
      "create a database in native mode for the counters, and name it in DATABASE_ID",
    ),
  ];
}

export function checkAppCheck({ appCheck }: ProjectFacts): Finding[] {
  const mode = seen(appCheck);
  if (mode === undefined || mode === "ENFORCED") return [];
  return [
    warningFinding(
      "app-check",
      "App Check is not enforced for Firestore, so any program with your API key can increment open counters",
      "register your apps with App Check, watch its metrics, and then enforce it (https://firebase.google.com/docs/app-check/enable-enforcement)",
    ),
  ];
}
