import { expect, test } from "vitest";
import { CounterError } from "../../core/src/index.ts";
import { CommandError, FAILED, toCommandError, WRONG_USAGE } from "./commandError.ts";

const grpc = (code: number, message: string) => Object.assign(new Error(message), { code });

test.each<[string, unknown, string]>([
  [
    "no firebase-admin",
    new Error("Cannot find module 'firebase-admin/app'\nRequire stack:"),
    "npm install firebase-admin",
  ],
  [
    "firebase-admin without Firestore",
    new Error("Cannot find module '@google-cloud/firestore'\nRequire stack:"),
    "npm install @google-cloud/firestore",
  ],
  ["no credentials", new Error("Could not load the default credentials. Browse to"), "gcloud auth"],
  ["credentials that have expired", grpc(2, "2 UNKNOWN: invalid_grant"), "gcloud auth"],
  ["credentials that were not accepted", grpc(16, "16 UNAUTHENTICATED: Request had invalid"), "gcloud auth"],
  ["no permission", grpc(7, "7 PERMISSION_DENIED: Missing or insufficient permissions."), "Cloud Datastore User"],
  ["no database", grpc(5, "5 NOT_FOUND: The database x does not exist"), "--database"],
  ["no index of Tally", grpc(9, "9 FAILED_PRECONDITION: The query requires an index."), "firebase deploy"],
  ["no index of a source", grpc(9, "9 FAILED_PRECONDITION: The query requires an index."), "source of your own"],
])("%s: one line that says what to do", (_, error, advice) => {
  const { message, exitCode } = toCommandError(error);
  expect(message).toContain(advice);
  expect(message).not.toMatch(/\n|[A-Z]+_[A-Z]+:/);
  expect(exitCode).toBe(FAILED);
});

test("an argument that Tally rejects before any I/O is wrong usage; its other errors are not", () => {
  expect(toCommandError(new CounterError("counter/invalid-id", "x")).exitCode).toBe(WRONG_USAGE);
  expect(toCommandError(new CounterError("counter/unknown-outcome", "x")).exitCode).toBe(FAILED);
});

test("any other error is reduced to its first line, and a CommandError is unchanged", () => {
  expect(toCommandError(new Error("odd\n  at f")).message).toBe("odd");
  expect(toCommandError("odd").message).toBe("odd");
  const failure = new CommandError(130, "interrupted");
  expect(toCommandError(failure)).toBe(failure);
});
