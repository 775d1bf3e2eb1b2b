/** Mistakes of the functions and of operators that change the sum of a counter's shards: in folds, resets and corrections. */
import { ORDERS } from "../scenario/scenario.ts";
import {
  committing,
  deciding,
  folding,
  inTwoCommits,
  isDeletion,
  knowing,
  refusedIsDone,
  those,
  withoutPrecondition,
  withoutPreconditions,
} from "./edits.ts";
import type { Mutation } from "./mutation.ts";

const isBase = ({ path }: { readonly path: string }) => path.endsWith("/shards/base");

export const sumMutations: Record<string, Mutation> = {
  "fold without the precondition": { ...folding(withoutPreconditions), breaks: ["I5", "I9", "I12", "I13"], seed: 50 },
  "fold deletes first and adds to the base later": {
    ...folding(inTwoCommits(isDeletion)),
    breaks: ["I5", "I1", "I9"],
    seed: 3,
  },
  "fold before two minutes": {
    ...deciding((step, _cause, _known, now) => (step.do === "fold" ? { ...step, quietSince: now - 1_000 } : step)),
    breaks: ["I5"],
    seed: 2_588,
  },
  "a reservation is ignored": { ...knowing((known) => ({ ...known, reservation: undefined })), breaks: ["I5"] },
  "a refused reset or correction counts as done": {
    ...committing("re", isBase, refusedIsDone),
    breaks: ["I5"],
    seed: 14,
  },
  "reset without the guard": {
    ...committing("reset", isBase, those(isBase, withoutPrecondition)),
    breaks: ["I5"],
    seed: 14,
  },
  "source and shards are read one after the other": {
    query: (plan, find, { name }) =>
      name.startsWith("reconcile") && plan.collection === `counters/${ORDERS.counter}/shards`
        ? find(plan, Number.POSITIVE_INFINITY)
        : find(),
    breaks: ["I5"],
    seed: 164,
  },
};
