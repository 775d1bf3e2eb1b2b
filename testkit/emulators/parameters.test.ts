import { expect, test } from "vitest";
import { PARAMETERS } from "../../functions/src/deploy/parameters.ts";
import { parametersOf } from "./parameters.ts";

test("the extension has a parameter of its own; some of a deployment of the code it lacks", () => {
  const shared = Object.keys(PARAMETERS).filter((name) => !PARAMETERS[name]?.isNotInExtension);
  expect(parametersOf("extension").names.toSorted()).toEqual([...shared, "DATABASE_REGION"].toSorted());
});
