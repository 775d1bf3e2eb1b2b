/**
 * The entries of `firestore` in `firebase.json`: one, or a list with one for each database
 * (https://firebase.google.com/docs/cli#the_firebasejson_file).
 */

export interface FirestoreEntry {
  readonly database?: string;
  /** A name that stands for databases of each project. */
  readonly target?: string;
  readonly rules?: string;
  readonly indexes?: string;
  readonly location?: string;
  readonly edition?: string;
}

/** In the file's order. @param json  the content of `firebase.json` */
export function firestoreEntries(json: { readonly firestore?: unknown } | undefined): FirestoreEntry[] {
  return [json?.firestore ?? []].flat() as FirestoreEntry[];
}

/** The entry that names a database. An entry with a target names none. */
export function entryOf(
  json: { readonly firestore?: unknown } | undefined,
  database: string,
): FirestoreEntry | undefined {
  return firestoreEntries(json).find((entry) => databaseOf(entry) === database);
}

/** The database that an entry names; `undefined` if it has a target instead. */
export function databaseOf({ database, target }: FirestoreEntry): string | undefined {
  return target === undefined ? (database ?? "(default)") : undefined;
}
