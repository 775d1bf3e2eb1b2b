import { expect, test } from "vitest";
import { isFailure } from "./doctor.ts";
import { errorFinding, warningFinding } from "./finding.ts";

const [error, warning] = [errorFinding("e", "", ""), warningFinding("w", "", "")];
const part = { part: "rules", reason: "" };

test("an error fails; with --strict also a warning, and what could not be seen", () => {
  const outcomes = (strict: boolean) => [
    isFailure([], [], strict),
    isFailure([], [part], strict),
    isFailure([warning], [], strict),
    isFailure([error, warning], [part], strict),
  ];
  expect(outcomes(false)).toEqual([false, false, false, true]);
  expect(outcomes(true)).toEqual([false, true, true, true]);
});
