/** A mirror shows each total in the commit that publishes it. */
import { mirrorTarget } from "../../../../core/src/index.ts";
import type { FeaturePlan } from "../../counter/types.ts";
import type { Config } from "../config.ts";

export const mirrorsPlan = {
  name: "mirrors",
  needsPublishes: ({ ref }, { mirrors }: Config) => ref !== undefined && mirrorTarget(ref.id, mirrors) !== undefined,
} satisfies FeaturePlan;
