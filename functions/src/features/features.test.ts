import { expect, test } from "vitest";
import { FUNCTIONS } from "../deploy/functions.ts";
import { PARTS } from "../deploy/parts.ts";
import { FEATURES } from "./features.ts";
import { FEATURE_PLANS } from "./plans.ts";

test("each feature has its plan in the list of plans, in the same order", () => {
  expect(FEATURES.map(({ name }) => name)).toEqual(FEATURE_PLANS.map(({ name }) => name));
  FEATURES.forEach((feature, index) => {
    expect(feature).toMatchObject(FEATURE_PLANS[index] as object);
  });
});

test("each function has one handler, and each kind of task, too", () => {
  const handled = PARTS.flatMap(({ onDocument, onRequest, onMessage, onTask }) =>
    [onDocument, onRequest, onMessage, onTask].flatMap((handlers) => Object.keys(handlers ?? {})),
  );
  const declared = [...FUNCTIONS].flatMap(([name, { trigger }]) =>
    trigger.on === "task"
      ? PARTS.flatMap(({ functions }) => kindsOf(functions?.[name]?.trigger))
      : trigger.on === "schedule"
        ? []
        : [name],
  );
  expect(handled.toSorted()).toEqual(declared.toSorted());
});

function kindsOf(trigger: { readonly on: string; readonly kinds?: readonly string[] } | undefined): readonly string[] {
  return trigger?.kinds ?? [];
}
