/**
 * How a command ends when it does not end well: one line that says what to do, and an exit code for scripts.
 *
 *     0  done        1  failed, or declined        2  wrong usage        130  interrupted
 */
import { CounterError, codeOf } from "../../core/src/index.ts";
import { shown } from "./screen.ts";

export const FAILED = 1;
export const WRONG_USAGE = 2;
export const INTERRUPTED = 130;

export class Stop extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** gRPC status codes (google.rpc.Code). */
const [NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, UNAVAILABLE, UNAUTHENTICATED] = [5, 7, 9, 14, 16];

const INSTALL =
  "npm install firebase-admin (or: npx --package firestore-tally --package firebase-admin firestore-tally …)";
const LOG_IN =
  "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account";

/** What an error means to whoever typed the command. What Tally refuses before any I/O was wrong usage. */
export function stopFor(error: unknown): Stop {
  if (error instanceof Stop) return error;
  const message = firstLine(error);
  const failed = (text: string) => new Stop(FAILED, text, error);
  if (error instanceof CounterError) {
    const wrongUsage = /^counter\/invalid-(id|collection|amount|option)$/.test(error.code);
    return new Stop(wrongUsage ? WRONG_USAGE : FAILED, message, error);
  }
  if (/Cannot find (module|package) '(firebase-admin|@google-cloud\/firestore)/.test(message)) {
    return failed(`firebase-admin is not installed here; ${INSTALL}`);
  }
  if (/default credentials|Could not refresh access token|invalid_grant/.test(message)) {
    return failed(`no usable credentials; ${LOG_IN}`);
  }
  switch (codeOf(error)) {
    case UNAUTHENTICATED:
      return failed(`the credentials are not accepted; ${LOG_IN}`);
    case PERMISSION_DENIED:
      return failed(
        `permission denied: ${message}; give the account the role "Cloud Datastore User", or name another --project`,
      );
    case NOT_FOUND:
      return failed(`not found: ${message}; check --project and --database`);
    case FAILED_PRECONDITION:
      return failed(
        `${message}${/index/.test(message) ? " (`firebase deploy --only firestore:indexes` creates those of Tally)" : ""}`,
      );
    case UNAVAILABLE:
      return failed(`Firestore cannot be reached: ${message}`);
    default:
      return failed(message);
  }
}

/** The text of an error without its status code's name and its stack, as it may be printed. */
function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return shown((text.split("\n")[0] ?? "").replace(/^\d+ [A-Z_]+: /, ""));
}
