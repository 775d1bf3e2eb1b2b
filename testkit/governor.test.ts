/** The governor without an emulator; `test/testkit/governor.test.ts` has it in front of one. */
import { expect, test } from "vitest";
import { Message } from "./firestoreMessages.ts";
import { governor } from "./governor.ts";

test("a document takes 10 writes at once, 10 more wait up to 10 s at one a second, and the next is ABORTED", () => {
  const { governed, inspection } = governor();
  const message = new Message(Buffer.alloc(0), "Commit", "Request");
  message.rewrite({ writes: [{ delete: "shards/0" }] });
  const write = () => inspection("Commit")?.request?.(message);
  expect(Array.from({ length: 20 }, write).map((wait) => wait !== undefined)).toEqual(
    Array.from({ length: 20 }, (_, n) => n >= 10),
  );
  expect(write).toThrow("Too much contention on these documents. Please try again.");
  expect(governed).toEqual({ waited: 10, aborted: 1 });
});
