import { FieldValue, Firestore, GeoPoint, Timestamp } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { documentBytes, type StoredValue, valueBytes } from "./documentSize.ts";

test("a document is as large as the example of the documentation", () => {
  const task = { type: "Personal", done: false, priority: 1, description: "Learn Cloud Firestore" };
  expect(documentBytes("users/jeff/tasks/my_task_id", task)).toBe(147);
});

const firestore = new Firestore({ projectId: "demo-sizes" });

const VALUES: readonly (readonly [type: string, value: unknown, bytes: number])[] = [
  ["null", null, 1],
  ["a boolean", true, 1],
  ["an integer", 7, 8],
  ["a double", 0.5, 8],
  ["a text", "Learn", 6],
  ["a text of two, three and four bytes a character", "ä€😀", 10],
  ["bytes", new Uint8Array(5), 5],
  ["a timestamp", Timestamp.now(), 8],
  ["a point", new GeoPoint(1, 2), 16],
  ["a reference", firestore.doc("users/jeff/tasks/my_task_id"), 44],
  ["a vector", FieldValue.vector([1, 2, 3]), 24],
  ["a list", ["a", 1, null], 11],
  ["a map", { latitude: 1, path: "a" }, 32 + 9 + 8 + 5 + 2],
  ["an empty map", {}, 32],
];

test.each(VALUES)("%s is as large as the documentation says", (_, value, bytes) => {
  expect(valueBytes(value as StoredValue)).toBe(bytes);
});

test("a text is as large as its UTF-8", () => {
  for (const text of ["", "counters", "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}", "👩‍👩‍👧"])
    expect(valueBytes(text)).toBe(Buffer.byteLength(text) + 1);
});
