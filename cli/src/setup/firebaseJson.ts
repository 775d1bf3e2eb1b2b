/** `firebase.json`: where rules and indexes are, Tally's codebase, and the emulators that it needs. */
import type { Edition } from "../../../functions/src/decisions.ts";
import { append, readJson, removeIn, setIn, wrapInList } from "./json.ts";

export const FIREBASE_JSON = "firebase.json";

/** The name of Tally's codebase, and of its folder. */
export const CODEBASE = "tally";

const NEW_PROJECT = `${JSON.stringify({ firestore: { rules: "firestore.rules", indexes: "firestore.indexes.json" } }, null, 2)}\n`;

/** Increments need Firestore and its triggers; a like a signed-in user; a counter that is polled its tasks. */
const EMULATORS = {
  auth: { port: 9099 },
  firestore: { port: 8080 },
  functions: { port: 5001 },
  tasks: { port: 9499 },
};

interface FirestoreEntry {
  readonly database?: string;
  readonly rules?: string;
  readonly indexes?: string;
}

interface FunctionsEntry {
  readonly codebase?: string;
  readonly source?: string;
}

/** What Tally's files are called in a project. */
export interface Places {
  readonly rules: string;
  readonly indexes: string;
  /** The folder of Tally's codebase, if there is one. */
  readonly codebase: string | undefined;
}

const listOf = <T>(value: unknown): T[] => (value === undefined ? [] : ([value].flat() as T[]));

const isOf = (database: string) => (one: FirestoreEntry) => (one.database ?? "(default)") === database;

/** @param text  of `firebase.json`; `undefined` if there is none */
export function placesIn(text: string | undefined, database: string): Places {
  const { firestore, functions } = readJson(FIREBASE_JSON, text ?? NEW_PROJECT);
  const entry = listOf<FirestoreEntry>(firestore).find(isOf(database));
  const codebase = listOf<FunctionsEntry>(functions).find((one) => one.codebase === CODEBASE);
  return {
    rules: entry?.rules ?? "firestore.rules",
    indexes: entry?.indexes ?? "firestore.indexes.json",
    codebase: codebase?.source,
  };
}

export interface Wanted {
  readonly database: string;
  readonly edition: Edition;
  /** Whether the functions are a codebase of this project. */
  readonly hasCodebase: boolean;
}

export function addToFirebaseJson(before: string | undefined, { database, edition, hasCodebase }: Wanted): string {
  let text = before ?? NEW_PROJECT;
  const { firestore, functions, emulators } = readJson(FIREBASE_JSON, text) as Record<string, object | undefined>;
  text = withFirestore(text, firestore, database, edition);
  if (hasCodebase && !placesIn(text, database).codebase) {
    if (functions && !Array.isArray(functions)) text = wrapInList(text, ["functions"]);
    text = append(text, ["functions"], { codebase: CODEBASE, source: CODEBASE, runtime: "nodejs24" });
  }
  if (!emulators) return setIn(text, ["emulators"], EMULATORS);
  for (const [name, emulator] of Object.entries(EMULATORS))
    if (!Object.hasOwn(emulators, name)) text = setIn(text, ["emulators", name], emulator);
  return text;
}

/** Names the files of rules and indexes where the entry of the database lacks them. */
function withFirestore(before: string, firestore: unknown, database: string, edition: Edition): string {
  const entries = listOf<FirestoreEntry>(firestore);
  const index = entries.findIndex(isOf(database));
  // The Firebase CLI makes a database that does not exist yet in this edition.
  const made = edition === "standard" ? {} : { edition };
  const named = { rules: "firestore.rules", indexes: "firestore.indexes.json", ...made };
  if (index < 0) {
    const isAlone = entries.length === 0 && database === "(default)";
    const entry = database === "(default)" ? named : { database, ...named };
    if (isAlone) return setIn(before, ["firestore"], entry);
    return append(
      Array.isArray(firestore) || !firestore ? before : wrapInList(before, ["firestore"]),
      ["firestore"],
      entry,
    );
  }
  const path = Array.isArray(firestore) ? ["firestore", index] : ["firestore"];
  let text = before;
  for (const [name, file] of Object.entries(named))
    if (!(entries[index] as Record<string, unknown>)[name]) text = setIn(text, [...path, name], file);
  return text;
}

/** Takes Tally's codebase out. Emulators stay, since the app's own code may use them. */
export function removeFromFirebaseJson(text: string): string {
  const { functions } = readJson(FIREBASE_JSON, text);
  if (!Array.isArray(functions)) return text;
  const index = functions.findIndex((one: FunctionsEntry) => one.codebase === CODEBASE);
  if (index < 0) return text;
  return removeIn(text, functions.length === 1 ? ["functions"] : ["functions", index]);
}
