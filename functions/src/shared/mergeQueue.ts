/** The queue that features share whose pending documents are merged (merge.ts). */
import type { TaskKinds } from "../counter/cause.ts";
import type { FunctionPlan } from "./feature.ts";

/** @param unless  the parameter of the feature */
export function mergeQueue(kind: keyof TaskKinds, unless: string) {
  return {
    does: "Merges new visitors and items when that is due.",
    without: "visitors and items are not counted while they are many",
    unless,
    trigger: { on: "task", kinds: [kind] },
  } as const satisfies FunctionPlan;
}
