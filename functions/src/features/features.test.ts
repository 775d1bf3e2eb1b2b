import { expect, test } from "vitest";
import { FEATURES } from "./features.ts";
import { FEATURE_PLANS } from "./plans.ts";

test("the pure half of each feature that has one is among the plans", () => {
  const hasPlan = FEATURES.filter(
    (one) => one.fieldsAfter ?? one.prepare ?? one.tasks ?? one.shardSettings ?? one.needsPublishes,
  );
  expect(hasPlan.map(({ name }) => name).toSorted()).toEqual(FEATURE_PLANS.map(({ name }) => name).toSorted());
});
