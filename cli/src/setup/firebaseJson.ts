/** `firebase.json`: the entry of the database with its rules and indexes, the entry of Tally's codebase, and the emulators that it needs. */
import type { Edition } from "../../../functions/src/decisions.ts";
import { databaseOf, entryOf, type FirestoreEntry, firestoreEntries } from "../firestoreEntries.ts";
import { append, readJson, removeIn, setIn, wrapInList } from "./json.ts";

export const FIREBASE_JSON = "firebase.json";

/** The name of Tally's codebase, and of its folder. */
export const CODEBASE = "tally";

export const DEFAULT_DATABASE = "(default)";

/** Increments need Firestore and its triggers; a like a signed-in user; a counter that is polled its tasks. */
const EMULATORS = {
  auth: { port: 9099 },
  firestore: { port: 8080 },
  functions: { port: 5001 },
  tasks: { port: 9499 },
};

/** A deployment installs the packages of a fresh clone, too. */
const PREDEPLOY = ['npm --prefix "$RESOURCE_DIR" install'];

export interface FunctionsEntry {
  readonly codebase?: string;
  readonly source?: string;
  readonly predeploy?: string | readonly string[];
  /** An instance of a kit, by name, has a folder of its own with parameters. */
  readonly kit?: string;
  readonly instances?: Readonly<Record<string, string>>;
  readonly sourcePackage?: { readonly name?: string };
}

/** Where the rules and indexes of a database are. */
export interface Places {
  readonly rules: string;
  readonly indexes: string;
  /** What `firebase.json` says of the database. */
  readonly entry: FirestoreEntry | undefined;
  /** Other databases whose rules are in the same file. */
  readonly sharedWith: readonly string[];
}

const listOf = <T>(value: unknown): T[] => (value === undefined ? [] : ([value].flat() as T[]));

/** The entries of functions. @param text  of `firebase.json`; `undefined` if there is none */
export function functionsEntriesIn(text: string | undefined): FunctionsEntry[] {
  const entries = listOf<FunctionsEntry>(readJson(FIREBASE_JSON, text ?? "{}").functions);
  return entries.map((entry) =>
    entry.source === undefined ? entry : { ...entry, source: entry.source.replace(/^\.\/|\/+$/g, "") },
  );
}

/** A named database has files of its own: with Tally's rules in a file of both, counters would be open in both. */
export function placesIn(text: string | undefined, database: string): Places {
  const json = readJson(FIREBASE_JSON, text ?? "{}");
  const entry = entryOf(json, database);
  const others = firestoreEntries(json).filter((one) => one !== entry);
  const infix = database === DEFAULT_DATABASE ? "" : `.${database}`;
  const placeOf = (kind: "rules" | "indexes", ending: string) => {
    const present = entry?.[kind];
    const isShared = infix !== "" && others.some((one) => one[kind] === present);
    return present === undefined || isShared ? `firestore${infix}${ending}` : present;
  };
  const rules = placeOf("rules", ".rules");
  return {
    ...{ rules, indexes: placeOf("indexes", ".indexes.json"), entry },
    sharedWith: others
      .filter((one) => one.rules === rules)
      .map((one) => one.database ?? one.target ?? DEFAULT_DATABASE),
  };
}

export interface Wanted {
  readonly database: string;
  readonly places: Pick<Places, "rules" | "indexes">;
  /** Of the database: the Firebase CLI creates one that does not exist with these. */
  readonly location: string | undefined;
  readonly edition: Edition | undefined;
  /** Whether the functions are a codebase of this project; its position, if it has an entry. */
  readonly codebase: { readonly entry: number | undefined } | undefined;
}

export function addToFirebaseJson(before: string | undefined, wanted: Wanted): string {
  let text = withFirestore(before ?? "{}\n", wanted);
  if (wanted.codebase) text = withCodebase(text, wanted.codebase.entry);
  const { emulators } = readJson(FIREBASE_JSON, text);
  if (!emulators) return setIn(text, ["emulators"], EMULATORS);
  for (const [name, emulator] of Object.entries(EMULATORS))
    if (!Object.hasOwn(emulators, name)) text = setIn(text, ["emulators", name], emulator);
  return text;
}

/** Adds the entry of Tally's codebase, or what older versions have not written to it. */
export function withCodebase(before: string, entry: number | undefined): string {
  const { functions } = readJson(FIREBASE_JSON, before);
  if (entry !== undefined) {
    const path = Array.isArray(functions) ? ["functions", entry] : ["functions"];
    const { predeploy } = listOf<FunctionsEntry>(functions)[entry] ?? {};
    return predeploy === undefined ? setIn(before, [...path, "predeploy"], PREDEPLOY) : before;
  }
  const text = functions && !Array.isArray(functions) ? wrapInList(before, ["functions"]) : before;
  const added = { codebase: CODEBASE, source: CODEBASE, runtime: "nodejs24", predeploy: PREDEPLOY };
  return append(text, ["functions"], added);
}

/** The entry of the database. In a list, the Firebase CLI demands that each entry names its database. */
function withFirestore(before: string, { database, places, location, edition }: Wanted): string {
  const json = readJson(FIREBASE_JSON, before);
  const { firestore } = json;
  const entries = firestoreEntries(json);
  const index = entries.findIndex((one) => databaseOf(one) === database);
  const { rules, indexes } = places;
  const wanted = Object.entries({ rules, indexes, location, edition }).filter(([, value]) => value !== undefined);
  if (entries.length === 0 && database === DEFAULT_DATABASE && !Array.isArray(firestore))
    return setIn(before, ["firestore"], Object.fromEntries(wanted));
  let text = before;
  if (index < 0 && firestore !== undefined && !Array.isArray(firestore)) text = wrapInList(text, ["firestore"]);
  const isList = index < 0 || Array.isArray(firestore);
  const at = (n: number) => (isList ? ["firestore", n] : ["firestore"]);
  if (isList)
    entries.forEach((one, n) => {
      if (one.database === undefined && one.target === undefined)
        text = setIn(text, [...at(n), "database"], DEFAULT_DATABASE);
    });
  if (index < 0) return append(text, ["firestore"], { database, ...Object.fromEntries(wanted) });
  for (const [name, value] of wanted)
    if ((entries[index] as Record<string, unknown>)[name] !== value) text = setIn(text, [...at(index), name], value);
  return text;
}

/** Takes the entry of Tally's codebase out. Emulators stay, since the app's own code may use them. */
export function removeFromFirebaseJson(text: string, entry: number): string {
  const { functions } = readJson(FIREBASE_JSON, text);
  const isAlone = !Array.isArray(functions) || functions.length === 1;
  return removeIn(text, isAlone ? ["functions"] : ["functions", entry]);
}
