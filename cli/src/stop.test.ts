import { expect, test } from "vitest";
import { CounterError } from "../../core/src/index.ts";
import { FAILED, Stop, stopFor, WRONG_USAGE } from "./stop.ts";

const grpc = (code: number, message: string) => Object.assign(new Error(message), { code });

test.each<[string, unknown, string]>([
  ["no library", new Error("Cannot find module 'firebase-admin/app'\nRequire stack:"), "npm install firebase-admin"],
  ["no credentials", new Error("Could not load the default credentials. Browse to"), "gcloud auth"],
  ["credentials that have expired", grpc(2, "2 UNKNOWN: invalid_grant"), "gcloud auth"],
  ["credentials that are not accepted", grpc(16, "16 UNAUTHENTICATED: Request had invalid"), "gcloud auth"],
  ["no permission", grpc(7, "7 PERMISSION_DENIED: Missing or insufficient permissions."), "Cloud Datastore User"],
  ["no database", grpc(5, "5 NOT_FOUND: The database x does not exist"), "--database"],
  ["no index", grpc(9, "9 FAILED_PRECONDITION: The query requires an index."), "firebase deploy"],
])("%s: one line that says what to do", (_, error, advice) => {
  const { message, exitCode } = stopFor(error);
  expect(message).toContain(advice);
  expect(message).not.toMatch(/\n|[A-Z]+_[A-Z]+:/);
  expect(exitCode).toBe(FAILED);
});

test("what Tally refuses before any I/O is wrong usage; other errors of its own are not", () => {
  expect(stopFor(new CounterError("counter/invalid-id", "x")).exitCode).toBe(WRONG_USAGE);
  expect(stopFor(new CounterError("counter/unknown-outcome", "x")).exitCode).toBe(FAILED);
});

test("anything else is told in its first line, and a stop stays what it is", () => {
  expect(stopFor(new Error("odd\n  at f")).message).toBe("odd");
  expect(stopFor("odd").message).toBe("odd");
  const stop = new Stop(130, "interrupted");
  expect(stopFor(stop)).toBe(stop);
});
