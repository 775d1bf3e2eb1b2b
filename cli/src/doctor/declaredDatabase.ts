/**
 * What `firebase.json` says about a database. The Firebase CLI creates a missing database in that location and edition, and never looks
 * at them again, so a difference stays unnoticed until a database is created anew.
 */
import { entryOf } from "../firestoreEntries.ts";
import type { FirebaseJson } from "../nearestFirebaseJson.ts";
import { type DeclaredDatabase, type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding } from "./finding.ts";

export function declaredDatabase(json: FirebaseJson | undefined, database: string): DeclaredDatabase | null {
  const entry = entryOf(json, database);
  return entry ? { location: entry.location ?? null, edition: entry.edition?.toUpperCase() ?? null } : null;
}

export function checkDeclared({ target, database, declared }: ProjectFacts): Finding[] {
  const [actual, inFile] = [seen(database), seen(declared)];
  if (!actual || !inFile) return [];
  const name = target.database === "(default)" ? "the database" : `the database ${target.database}`;
  const compare = (what: "location" | "edition", wanted: string | null, is: string, verb: string, toNew: string) =>
    wanted === null || wanted === is
      ? []
      : [
          errorFinding(
            `${what}-declared`,
            `firebase.json declares ${what} ${wanted}, but ${name} ${verb} ${is}. A new project deployed from this file gets a database ${toNew} ${wanted}`,
            `set ${what} to ${is}; an existing database keeps its ${what}`,
          ),
        ];
  return [
    ...compare("location", inFile.location, actual.locationId, "is in", "in"),
    ...compare(
      "edition",
      inFile.edition?.toLowerCase() ?? null,
      actual.edition.toLowerCase(),
      "has edition",
      "with edition",
    ),
  ];
}
