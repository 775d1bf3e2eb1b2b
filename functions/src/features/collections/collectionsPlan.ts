/** A counter that counts a collection has no increments. */
import { countedCollectionOf } from "../../../../core/src/index.ts";
import type { FeaturePlan } from "../../counter/types.ts";
import type { Config } from "../config.ts";

export const collectionsPlan = {
  name: "collections",
  needsPublishes: ({ ref }, { counted }: Config) =>
    ref !== undefined && countedCollectionOf(ref.id, counted) !== undefined,
} satisfies FeaturePlan;
