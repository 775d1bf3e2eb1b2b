/**
 * Which database a command works on.
 *
 * It is resolved before anything is loaded or sent, from the options, the environment and the project's own files, in the
 * order of Google's tools, and is printed before any change. A project is never guessed.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { DEFAULT_COLLECTION, validName } from "../../core/src/index.ts";
import { CommandError, FAILED, WRONG_USAGE } from "./commandError.ts";
import { escapeControls } from "./escape.ts";
import { emulatorAddress, nearestFirebaseJson, nearestText, type ReadFile } from "./nearestFirebaseJson.ts";

export interface DatabaseTarget {
  readonly project: string;
  readonly database: string;
  readonly collection: string;
  /** `host:port`; `null` for production. */
  readonly emulator: string | null;
}

/** The options of every command that name a database. */
export interface TargetOptions {
  readonly project?: string;
  readonly database?: string;
  readonly collection?: string;
  /** `true` without a value. */
  readonly emulator?: string | true;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the Firestore emulator listens by default. */
const DEFAULT_PORT = 8080;

/** @throws CommandError if the project is unknown */
export function resolveTarget(options: TargetOptions, environment: Environment, readFile: ReadFile): DatabaseTarget {
  const { FIRESTORE_EMULATOR_HOST } = environment;
  const { database = "(default)", collection = DEFAULT_COLLECTION } = options;
  const emulator =
    options.emulator === true
      ? FIRESTORE_EMULATOR_HOST || emulatorAddress(nearestFirebaseJson(readFile), "firestore", DEFAULT_PORT)
      : options.emulator;
  return {
    project: options.project ?? resolveProject(environment, readFile),
    database,
    collection: validName("collection", collection),
    emulator: emulator ?? (FIRESTORE_EMULATOR_HOST || null),
  };
}

function resolveProject(environment: Environment, readFile: ReadFile): string {
  const { GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT, GOOGLE_APPLICATION_CREDENTIALS: key } = environment;
  const project =
    GOOGLE_CLOUD_PROJECT ||
    GCLOUD_PROJECT ||
    (key &&
      textIn(
        () => readFile(key),
        (json) => json.project_id,
      )) ||
    textIn(
      () => nearestText(readFile, ".firebaserc")?.text,
      (json) => json.projects?.default,
    );
  if (project) return project;
  throw new CommandError(
    WRONG_USAGE,
    "no project; name it with --project, set GOOGLE_CLOUD_PROJECT, or run this in a project where `firebase use` has chosen one",
  );
}

interface ProjectFile {
  readonly project_id?: string;
  readonly projects?: { readonly default?: string };
}

function textIn(read: () => string | undefined, field: (json: ProjectFile) => unknown): string | undefined {
  try {
    const value = field(JSON.parse(read() ?? "{}"));
    return typeof value === "string" ? value : undefined;
  } catch {
    // The file is missing or is not JSON: it names no project.
    return undefined;
  }
}

/** `production project "shop", database "(default)"`, and the collection unless it is the default. Safe to print. */
export function describeTarget({ project, database, collection, emulator }: DatabaseTarget): string {
  const place = emulator === null ? `production project "${project}"` : `emulator at ${emulator}, project "${project}"`;
  return escapeControls(
    `${place}, database "${database}"${collection === DEFAULT_COLLECTION ? "" : `, collection "${collection}"`}`,
  );
}

const CONNECT_TIMEOUT_MS = 3_000;

/** @throws CommandError if nothing listens at an address. The SDK would try for minutes without a message. */
export async function assertReachable(emulator: string): Promise<void> {
  const colon = emulator.lastIndexOf(":");
  const host = emulator.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port: Number(emulator.slice(colon + 1)), timeout: CONNECT_TIMEOUT_MS });
    const fail = () => {
      socket.destroy();
      reject(
        new CommandError(
          FAILED,
          `nothing answers at ${escapeControls(emulator)}; start it with \`firebase emulators:start\`, or name its address with --emulator host:port`,
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
