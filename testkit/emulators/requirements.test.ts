import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainFailure, findJava, MissingRequirement } from "./requirements.ts";

test("without Java, one message says what is missing and how to install it", () => {
  const empty = mkdtempSync(join(tmpdir(), "no-java-"));
  expect(() => findJava([empty])).toThrow(MissingRequirement);
  expect(() => findJava([empty])).toThrow(/need Java 21 or newer; none was found\.\nInstall one/);
});

test("an emulator that could not be downloaded is explained; other failures are left to firebase-tools", () => {
  expect(explainFailure("Error: download failed, getaddrinfo ENOTFOUND storage.googleapis.com")).toMatch(
    /gcloud components install cloud-firestore-emulator/,
  );
  expect(explainFailure("Error: Could not start Firestore Emulator, port taken.")).toBeUndefined();
  const started =
    "i  firestore: downloading cloud-firestore-emulator.jar...\nError: Firestore Emulator has exited with code: 137";
  expect(explainFailure(started)).toBeUndefined();
});
