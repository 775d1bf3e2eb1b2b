import fc from "fast-check";
import type { DocumentSnapshot } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { anyCounter } from "../../testing/arbitraries.ts";
import type { CounterState, Published } from "../counter/types.ts";
import { ALL_FEATURES } from "../deploy/allFeatures.ts";
import { DEFAULT_CONFIG } from "../deploy/defaultConfig.ts";
import { FUNCTIONS } from "../deploy/functions.ts";
import type { Feature } from "../shared/feature.ts";
import { FEATURES } from "./features.ts";
import { FEATURE_PLANS } from "./plans.ts";

test("each feature has its plan in the list of plans, in the same order", () => {
  expect(FEATURES.map(({ name }) => name)).toEqual(FEATURE_PLANS.map(({ name }) => name));
  FEATURES.forEach((feature, index) => {
    expect(feature).toMatchObject(FEATURE_PLANS[index] as object);
  });
});

test("each function has one handler, and each kind of task, too", () => {
  const handled = ALL_FEATURES.flatMap(({ onDocument, onRequest, onMessage, onTask }) =>
    [onDocument, onRequest, onMessage, onTask].flatMap((handlers) => Object.keys(handlers ?? {})),
  );
  const declared = [...FUNCTIONS].flatMap(([name, { trigger }]): readonly string[] => {
    if (trigger.on === "task") return trigger.kinds;
    return trigger.on === "schedule" ? [] : [name];
  });
  expect(handled.toSorted()).toEqual(declared.toSorted());
});

test("what each feature has in a publish is parsed to what was published", async () => {
  await fc.assert(
    fc.asyncProperty(anyCounter, async (published) => {
      const fields = await Promise.all(FEATURES.map((feature) => fieldsOf(feature, published)));
      const document = Object.assign({}, ...fields) as Readonly<Record<string, unknown>>;
      const snapshot = { get: (field: string) => document[field] } as unknown as DocumentSnapshot;
      for (const { name, parse } of FEATURES)
        if (parse) expect([name, parse(snapshot)]).toEqual([name, published[name as keyof Published]]);
      expect(Object.values(document)).not.toContain(undefined);
    }),
  );
});

/** The fields of a feature in the document of a counter that is new. */
async function fieldsOf(feature: Feature, published: Published): Promise<object> {
  const state = { ref: { id: "likes:post42" }, published: undefined } as CounterState;
  const contribution = await feature.contribute?.(state, published, { ...DEFAULT_CONFIG, mirrors: [] });
  return contribution?.fields ?? {};
}
