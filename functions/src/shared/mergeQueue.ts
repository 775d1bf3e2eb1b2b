/** The task queue of all features that merge pending documents (merge.ts). */
import type { TaskKinds } from "../counter/cause.ts";
import type { FunctionPlan } from "./feature.ts";

/** @param askedForBy  the parameter of the feature */
export function mergeQueue(kind: keyof TaskKinds, askedForBy: string) {
  return {
    does: "Merges new visitors and items when that is due.",
    without: "visitors and items are not counted while they are many",
    askedForBy,
    trigger: { on: "task", kinds: [kind] },
  } as const satisfies FunctionPlan;
}
