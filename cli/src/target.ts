/**
 * Which database a command is about to touch.
 *
 * Decided before anything is loaded or sent, from the options, the environment and the project's own files, in the order
 * in which Google's tools do; and always said before something is changed. Never guessed: without a project there is none.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { DEFAULT_COLLECTION, validName } from "../../core/src/index.ts";
import { shown } from "./screen.ts";
import { FAILED, Stop, WRONG_USAGE } from "./stop.ts";

export interface Target {
  readonly project: string;
  readonly database: string;
  readonly collection: string;
  /** `host:port`; `null` for production. */
  readonly emulator: string | null;
}

/** The options that every command has. */
export interface TargetOptions {
  readonly project?: string;
  readonly database?: string;
  readonly collection?: string;
  /** `true` without a value. */
  readonly emulator?: string | true;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the Firestore emulator listens if nobody says otherwise. */
const EMULATOR = "127.0.0.1:8080";

/**
 * @param read  the text of a file; throws if there is none
 * @throws Stop if the project is unknown
 */
export function targetOf(options: TargetOptions, environment: Environment, read: (path: string) => string): Target {
  const { FIRESTORE_EMULATOR_HOST } = environment;
  const { database = "(default)", collection = DEFAULT_COLLECTION } = options;
  const emulator = options.emulator === true ? FIRESTORE_EMULATOR_HOST || EMULATOR : options.emulator;
  return {
    project: options.project ?? projectOf(environment, read),
    database,
    collection: validName("collection", collection),
    emulator: emulator ?? (FIRESTORE_EMULATOR_HOST || null),
  };
}

function projectOf(environment: Environment, read: (path: string) => string): string {
  const { GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT, GOOGLE_APPLICATION_CREDENTIALS: key } = environment;
  const known =
    GOOGLE_CLOUD_PROJECT ||
    GCLOUD_PROJECT ||
    (key && field(read, key, (json) => json.project_id)) ||
    field(read, ".firebaserc", (json) => json.projects?.default);
  if (known) return known;
  throw new Stop(
    WRONG_USAGE,
    "no project; name it with --project, set GOOGLE_CLOUD_PROJECT, or run this where `firebase use` has chosen one",
  );
}

interface Json {
  readonly project_id?: string;
  readonly projects?: { readonly default?: string };
}

function field(read: (path: string) => string, path: string, of: (json: Json) => unknown): string | undefined {
  try {
    const value = of(JSON.parse(read(path)));
    return typeof value === "string" ? value : undefined;
  } catch {
    // No such file, or not one of ours: the project is named elsewhere, or nowhere.
    return undefined;
  }
}

/** As it may be printed: `production project "shop", database "(default)"`; the collection, too, if it is not the usual one. */
export function nameOf({ project, database, collection, emulator }: Target): string {
  const place = emulator === null ? `production project "${project}"` : `emulator at ${emulator}, project "${project}"`;
  return shown(
    `${place}, database "${database}"${collection === DEFAULT_COLLECTION ? "" : `, collection "${collection}"`}`,
  );
}

/** How long an emulator may take to answer. */
const PATIENCE_MS = 3_000;

/** Rejects if nothing listens at an address. The SDK would try for minutes, and say nothing. */
export async function reach(emulator: string): Promise<void> {
  const colon = emulator.lastIndexOf(":");
  const host = emulator.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port: Number(emulator.slice(colon + 1)), timeout: PATIENCE_MS });
    const fail = () => {
      socket.destroy();
      reject(
        new Stop(
          FAILED,
          `nothing answers at ${shown(emulator)}; start it with \`firebase emulators:start\`, or name its address with --emulator host:port`,
        ),
      );
    };
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", fail).once("timeout", fail);
  });
}

export function readText(path: string): string {
  return readFileSync(path, "utf8");
}
