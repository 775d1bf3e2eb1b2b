import { expect, test } from "vitest";
import { isPreconditionFailure } from "./status.ts";

test("a failed precondition is one of three status codes; any other error is not one", () => {
  const refused = Array.from({ length: 17 }, (_, code) => code).filter((code) => isPreconditionFailure({ code }));
  expect(refused).toEqual([5, 6, 9]);
  expect(isPreconditionFailure(new Error("no code"))).toBe(false);
});
