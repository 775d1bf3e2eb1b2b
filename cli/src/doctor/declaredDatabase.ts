/**
 * What `firebase.json` says about a database. The Firebase CLI creates a missing database in that location and edition, and never looks
 * at them again, so a difference stays unnoticed until a database is created anew.
 */
import type { FirebaseJson, FirestoreEntry } from "../nearestFirebaseJson.ts";
import { type DeclaredDatabase, type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding } from "./finding.ts";

export function declaredDatabase(json: FirebaseJson | undefined, database: string): DeclaredDatabase | null {
  const entries: FirestoreEntry[] = [json?.firestore ?? []].flat();
  const entry = entries.find((one) => (one.database ?? "(default)") === database);
  return entry ? { location: entry.location ?? null, edition: entry.edition?.toUpperCase() ?? null } : null;
}

export function checkDeclared({ database, declared }: ProjectFacts): Finding[] {
  const [is, said] = [seen(database), seen(declared)];
  if (!is || !said) return [];
  const differs = (what: string, value: string, actual: string) =>
    errorFinding(
      `${what}-declared`,
      `\`${what}\` of the database in firebase.json is ${value}, and the database has ${actual}: a project that is set up from this file gets another one`,
      `set it to ${actual}; an existing database keeps its ${what}`,
    );
  return [
    ...(said.location !== null && said.location !== is.locationId
      ? [differs("location", said.location, is.locationId)]
      : []),
    ...(said.edition !== null && said.edition !== is.edition
      ? [differs("edition", said.edition.toLowerCase(), is.edition.toLowerCase())]
      : []),
  ];
}
