import { describe, expect, test } from "vitest";
import { documentBytes } from "../../costs/src/index.ts";
import { Message } from "../firestoreMessages.ts";
import { messageBytes, sizeRefusal } from "./sizes.ts";

test("a document with many marks is as large in an event as its message, to a hundredth", () => {
  const nonce = new Uint8Array(4);
  const marks = Array.from({ length: 28_000 }, () => nonce);
  const message = new Message(Buffer.alloc(0), "Commit", "Request");
  const values = marks.map((bytesValue) => ({ bytesValue }));
  message.rewrite({
    writes: [{ update: { fields: { count: { integerValue: 7 }, marks: { arrayValue: { values } } } } }],
  });
  expect(messageBytes({ count: 7, marks }) / message.raw.length).toBeCloseTo(1, 2);
});

describe("Firestore takes", () => {
  const sized = (bytes: number) => ({ path: "a/b", fields: { bytes: new Uint8Array(bytes) }, transforms: 0 });
  const overhead = documentBytes("a/b", { bytes: new Uint8Array(0) });

  test("a document of 1 MiB, no larger one", () => {
    expect(sizeRefusal([sized(1_048_576 - overhead)])).toBeUndefined();
    expect(sizeRefusal([sized(1_048_577 - overhead)])).toBe("a/b has 1048577 bytes, more than 1048576");
  });

  test("a commit of 10 MiB, no larger one", () => {
    const ten = Array.from({ length: 10 }, () => sized(1_048_576 - overhead));
    expect(sizeRefusal(ten)).toBeUndefined();
    expect(sizeRefusal([...ten, { path: "a/c", fields: undefined, transforms: 0 }])).toMatch(/too big/);
  });

  test("500 transforms of a document, no more", () => {
    expect(sizeRefusal([{ ...sized(1), transforms: 500 }])).toBeUndefined();
    expect(sizeRefusal([{ ...sized(1), transforms: 501 }])).toBe("a/b has 501 transforms, more than 500");
  });
});
