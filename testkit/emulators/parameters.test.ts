import { expect, test } from "vitest";
import { NOT_IN_EXTENSION, params } from "../../functions/src/deploy/parameters.ts";
import { parametersOf } from "./parameters.ts";

const defined = Object.values(params).map(({ name }) => name);

test.each(["plain", "kit"] as const)("the functions as %s have the parameters that their code defines", (packaging) => {
  expect(parametersOf(packaging).names).toEqual(defined);
});

test("the extension has parameters of its own; some of a deployment of the code it lacks", () => {
  const { names } = parametersOf("extension");
  const shared = defined.filter((name) => !NOT_IN_EXTENSION.includes(name));
  expect(names.toSorted()).toEqual([...shared, "DATABASE_REGION"].toSorted());
});
