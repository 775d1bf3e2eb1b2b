/**
 * How a command fails: one line that says what to do, and an exit code for scripts.
 *
 *     0  done        1  failed or declined        2  wrong usage        130  interrupted
 */
import { codeOf, isCounterError } from "../../core/src/index.ts";
import { escapeControls } from "./escape.ts";

export const FAILED = 1;
export const WRONG_USAGE = 2;
export const INTERRUPTED = 130;

export class CommandError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** gRPC status codes (google.rpc.Code). */
const [NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, UNAVAILABLE, UNAUTHENTICATED] = [5, 7, 9, 14, 16];

const INSTALL_ADMIN =
  "firebase-admin is not installed here; run `npm install firebase-admin` " +
  "(or: npx --package firestore-tally --package firebase-admin firestore-tally …)";
const INSTALL_FIRESTORE =
  "firebase-admin is installed here without @google-cloud/firestore, which npm leaves out on Node.js before 22; " +
  "run `npm install @google-cloud/firestore`, or use Node.js 22 or newer and install firebase-admin again";
const LOG_IN =
  "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account";

const CREATE_INDEX =
  "if it is for a source of your own, create it with the link of this message; " +
  "Tally's indexes are created by `firebase deploy --only firestore:indexes`; those of today, this week and this month " +
  "must be written by `npx firestore-tally init --windows <groups>` first";

/** What an error means to the user. An argument that Tally rejects before any I/O is wrong usage. */
export function toCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const message = firstLine(error);
  const failed = (text: string) => new CommandError(FAILED, text, error);
  if (isCounterError(error)) {
    const wrongUsage = /^counter\/invalid-(id|collection|amount|option|config)$/.test(error.code);
    return new CommandError(wrongUsage ? WRONG_USAGE : FAILED, message, error);
  }
  if (isMissing("@google-cloud/firestore", message)) return failed(INSTALL_FIRESTORE);
  if (isMissing("firebase-admin", message)) return failed(INSTALL_ADMIN);
  if (/default credentials|Could not refresh access token|invalid_grant/.test(message)) {
    return failed(`no usable credentials; ${LOG_IN}`);
  }
  switch (codeOf(error)) {
    case UNAUTHENTICATED:
      return failed(`the credentials were not accepted; ${LOG_IN}`);
    case PERMISSION_DENIED:
      return failed(
        `permission denied: ${message}; give the account the role "Cloud Datastore User", or name another --project`,
      );
    case NOT_FOUND:
      return failed(`not found: ${message}; check --project and --database`);
    case FAILED_PRECONDITION:
      return failed(`${message}${/index/.test(message) ? `; ${CREATE_INDEX}` : ""}`);
    case UNAVAILABLE:
      return failed(`Firestore cannot be reached: ${message}; check the connection, then try again`);
    default:
      return failed(message);
  }
}

/** Whether Node could not find a package: `Cannot find module 'firebase-admin/app'`. */
function isMissing(name: string, message: string): boolean {
  const [, found = ""] = /Cannot find (?:module|package) '([^']+)'/.exec(message) ?? [];
  return found === name || found.startsWith(`${name}/`);
}

/** The first line of an error's text without its status code, safe to print. */
function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return escapeControls((text.split("\n")[0] ?? "").replace(/^\d+ [A-Z_]+: /, ""));
}
