/** `firebase.json`: the entries of the database and of Tally's codebase, and the emulators that Tally needs. */
import { isDeepStrictEqual } from "node:util";
import type { Edition } from "../../../functions/src/decisions.ts";
import { databaseOf, entryOf, type FirestoreEntry, firestoreEntries } from "../firestoreEntries.ts";
import { append, readJson, removeIn, setIn, wrapInList } from "./json.ts";

export const FIREBASE_JSON = "firebase.json";

/** The name of Tally's codebase, and of its folder. */
export const CODEBASE = "tally";

export const DEFAULT_DATABASE = "(default)";

/** Increments need Firestore and functions. Likes need Auth for the signed-in user. Polled counters need tasks. */
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
  readonly runtime?: string;
  readonly predeploy?: string | readonly string[];
  /** An instance of a kit, by name, has a folder of its own with parameters. */
  readonly kit?: string;
  readonly instances?: Readonly<Record<string, string>>;
  readonly sourcePackage?: { readonly name?: string };
}

/** The files with the rules and indexes of a database. */
export interface FirestoreFiles {
  readonly rules: string;
  readonly indexes: string;
  /** What `firebase.json` says of the database. */
  readonly databaseEntry: FirestoreEntry | undefined;
  /** Other databases whose rules are in the same file. */
  readonly sharedWith: readonly string[];
}

const listOf = <T>(value: unknown): T[] => (value === undefined ? [] : ([value].flat() as T[]));

const ENTRY = { codebase: CODEBASE, source: CODEBASE, runtime: "nodejs24", predeploy: PREDEPLOY } as const;

/** Whether an entry has nothing that `init` does not write. The runtime may be another one. */
export function isEntryOfInit(entry: FunctionsEntry): boolean {
  const { runtime: _, ...written } = ENTRY;
  const { runtime: __, ...present } = entry;
  return isDeepStrictEqual(present, written);
}

/** The entries of functions. @param text  of `firebase.json`; `undefined` if there is none */
export function functionsEntriesIn(text: string | undefined): FunctionsEntry[] {
  const entries = listOf<FunctionsEntry>(readJson(FIREBASE_JSON, text ?? "{}").functions);
  return entries.map((entry) =>
    entry.source === undefined ? entry : { ...entry, source: entry.source.replace(/^\.\/|\/+$/g, "") },
  );
}

/** A named database gets its own files: Tally's rules in a shared file would open counters in both databases. */
export function firestoreFilesIn(text: string | undefined, database: string): FirestoreFiles {
  const json = readJson(FIREBASE_JSON, text ?? "{}");
  const entry = entryOf(json, database);
  const others = firestoreEntries(json).filter((one) => one !== entry);
  const infix = database === DEFAULT_DATABASE ? "" : `.${database}`;
  const pathOf = (kind: "rules" | "indexes", ending: string) => {
    const present = entry?.[kind];
    const isShared = infix !== "" && others.some((one) => one[kind] === present);
    return present === undefined || isShared ? `firestore${infix}${ending}` : present;
  };
  const rules = pathOf("rules", ".rules");
  return {
    rules,
    indexes: pathOf("indexes", ".indexes.json"),
    databaseEntry: entry,
    sharedWith: others
      .filter((one) => one.rules === rules)
      .map((one) => one.database ?? one.target ?? DEFAULT_DATABASE),
  };
}

export interface Wanted {
  readonly database: string;
  readonly firestoreFiles: { readonly rules: string; readonly indexes: string | undefined };
  /** The location and edition that the Firebase CLI gives to a database that it creates. */
  readonly location: string | undefined;
  readonly edition: Edition | undefined;
  readonly hasFunctions: boolean;
  /** The position of Tally's codebase in the list; `new` adds one, `none` leaves the functions as they are. */
  readonly codebase: "none" | "new" | number;
}

/**
 * The emulator gets the edition of the database, too: firebase-tools from 15.14 on asks for it, warns if the two differ, and does not look
 * for the database's in a list of databases (https://github.com/firebase/firebase-tools/pull/10280).
 */
export function addToFirebaseJson(before: string | undefined, wanted: Wanted): string {
  let text = withFirestore(before ?? "{}\n", wanted);
  if (wanted.codebase !== "none") text = withCodebase(text, wanted.codebase);
  const { emulators } = readJson(FIREBASE_JSON, text);
  const { edition } = wanted;
  const { auth, functions, tasks } = EMULATORS;
  const firestore = { ...EMULATORS.firestore, ...(edition && { edition }) };
  const needed = { auth, firestore, ...(wanted.hasFunctions && { functions, tasks }) };
  if (!emulators) return setIn(text, ["emulators"], needed);
  for (const [name, emulator] of Object.entries(needed))
    if (!Object.hasOwn(emulators, name)) text = setIn(text, ["emulators", name], emulator);
  const { firestore: present = firestore } = emulators as { firestore?: { edition?: string } };
  return present.edition === (edition ?? present.edition)
    ? text
    : setIn(text, ["emulators", "firestore", "edition"], edition);
}

/** Adds the entry of Tally's codebase, or completes one of an older version. */
export function withCodebase(before: string, position: number | "new"): string {
  const { functions } = readJson(FIREBASE_JSON, before);
  if (position !== "new") {
    const path = Array.isArray(functions) ? ["functions", position] : ["functions"];
    const { predeploy } = listOf<FunctionsEntry>(functions)[position] ?? {};
    return predeploy === undefined ? setIn(before, [...path, "predeploy"], PREDEPLOY) : before;
  }
  const text = functions && !Array.isArray(functions) ? wrapInList(before, ["functions"]) : before;
  return append(text, ["functions"], ENTRY);
}

/** Adds or completes the entry of the database. In a list, the Firebase CLI demands that each entry names its database. */
function withFirestore(before: string, { database, firestoreFiles, location, edition }: Wanted): string {
  const json = readJson(FIREBASE_JSON, before);
  const { firestore } = json;
  const entries = firestoreEntries(json);
  const index = entries.findIndex((one) => databaseOf(one) === database);
  const { rules, indexes } = firestoreFiles;
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

/** Removes the entry of Tally's codebase. The emulators stay, because the app's code may use them. */
export function removeFromFirebaseJson(text: string, position: number): string {
  const { functions } = readJson(FIREBASE_JSON, text);
  const isAlone = !Array.isArray(functions) || functions.length === 1;
  return removeIn(text, isAlone ? ["functions"] : ["functions", position]);
}
