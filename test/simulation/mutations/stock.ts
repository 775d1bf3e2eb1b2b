/** Mistakes in selling stock. */
import type { Transfer } from "../../../functions/src/features/stock/stockPlan.ts";
import type { Version, Write } from "../model/database.ts";
import { STOCK } from "../scenario/scenario.ts";
import { committing, inTwoCommits, isDeletion, those, withoutPreconditions } from "./edits.ts";
import type { Edit, Hooks, Mutation } from "./mutation.ts";

const isStock = ({ path }: { readonly path: string }) => path.startsWith(`counters/${STOCK}/`);
const isReceipt = (write: Write) => isStock(write) && write.path.includes("/tallyReceipts/");

/** Edits transfers: the commits of instances that change shards and delete none. */
const transferring = (edit: Edit): Mutation => ({
  ...committing(
    "instance",
    (write) => isStock(write) && write.path.includes("/shards/"),
    (writes, commit, by) => (writes.some(isDeletion) ? commit(writes) : edit(writes, commit, by)),
  ),
  breaks: ["I12", "I5"],
});

/** Hides the records of takes from the processes whose name begins so. */
const hidingTakes = (process: string): Hooks => {
  const isRecord = (version: Version) => isStock(version) && /\/(tallyEntries|tallyReceipts)\//.test(version.path);
  return {
    document: (version, { name }) =>
      name.startsWith(process) && isRecord(version) ? { ...version, fields: undefined } : version,
  };
};

export const stockMutations: Record<string, Mutation> = {
  "a transfer without the precondition": { ...transferring(withoutPreconditions), seed: 50 },
  "a transfer gives first and takes later": transferring(inTwoCommits(({ lastUpdateTime }) => !lastUpdateTime)),
  "units stay in base and beyond the shards of writers": {
    decide: (decide, cause, known, ...rest) => {
      const step = decide(cause, known, ...rest);
      if (step.do !== "prepare" || step.feature !== "stock") return step;
      const transfers = (step.work as readonly Transfer[]).filter(
        ({ from }) => Number(from.id) < (known.previous?.shardCount ?? 1),
      );
      return transfers.length > 0
        ? { ...step, work: transfers }
        : decide(cause, { ...known, isPrepared: true }, ...rest);
    },
    breaks: ["I12"],
    seed: 220,
  },
  "a server's take without the precondition": {
    ...committing("server", isStock, withoutPreconditions),
    breaks: ["I12"],
    seed: 3,
  },
  "a server's take with another receipt for each try": {
    ...committing(
      "server",
      isReceipt,
      those(isReceipt, (write) => ({ ...write, path: `${write.path}${Math.random()}` })),
    ),
    breaks: ["I12"],
    seed: 23,
  },
  "a server's take does not look for what it has committed": {
    ...hidingTakes("server"),
    breaks: ["I12", "completion"],
    seed: 23,
  },
  "a client does not look for what it has taken": { ...hidingTakes("client"), breaks: ["completion", "I12"] },
  "a client is told that nothing is left by the published stock": {
    query: (plan, find, { name }) =>
      name.startsWith("client") && plan.needs && plan.collection === `counters/${STOCK}/shards` ? [] : find(),
    breaks: ["I12"],
  },
  "the rules let a shard fall below zero": { withoutRule: "a shard of stock has units", breaks: ["I12"] },
};
