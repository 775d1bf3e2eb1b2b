/**
 * Steps of the functions that can fail for long, beside the publish itself. A step is known by what its commit writes.
 * The removal of expired marks is not among them: it happens with each 512th write, and a run has fewer.
 */
import type { Write } from "./model/database.ts";
import { STOCK } from "./scenario/scenario.ts";

type Writes = readonly Pick<Write, "path" | "kind">[];

const some = (part: string) => (writes: Writes) => writes.some(({ path }) => path.includes(part));

export const FAILING_STEPS = {
  folds: (writes) => writes.some(({ path, kind }) => path.includes("/shards/") && kind === "delete"),
  transfers: (writes) => writes.every(({ path }) => path.startsWith(`counters/${STOCK}/shards/`)),
  mirrors: some("pages/"),
  history: some("/tallyHistory/"),
  "merges of visitors": some("/tallySketches/"),
  "merges of items": some("/tallyItemCounts/"),
} as const satisfies Record<string, (writes: Writes) => boolean>;

export type FailingStep = keyof typeof FAILING_STEPS;
