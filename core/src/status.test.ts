import { expect, test } from "vitest";
import { isPreconditionFailure } from "./status.ts";

test("a guarded write was refused if its document had changed, appeared or gone; any other error is one", () => {
  const refused = Array.from({ length: 17 }, (_, code) => code).filter((code) => isPreconditionFailure({ code }));
  expect(refused).toEqual([5, 6, 9]);
  expect(isPreconditionFailure(new Error("no code"))).toBe(false);
});
