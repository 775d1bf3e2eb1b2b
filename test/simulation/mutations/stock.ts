/** Mistakes in selling stock. */
import type { createReceipt } from "../../../admin/src/receipt.ts";
import type { foldableShards } from "../../../functions/src/shards.ts";
import type { planTransfers } from "../../../functions/src/stockPlan.ts";
import type { transferStock } from "../../../functions/src/transferStock.ts";
import { type Edit, editingCommits, inTwoCommits, withoutPreconditions } from "../batchEdits.ts";
import type { WriteBatch } from "../model/adminSdk.ts";
import type { Mutation } from "./seams.ts";

const transferring = (edit: Edit): Mutation => ({
  module: "functions/src/transferStock.ts",
  declaration: "transferStock",
  mistake:
    (real: typeof transferStock): typeof transferStock =>
    (shards, ...rest) =>
      real(editingCommits(shards, edit), ...rest),
  breaks: ["I12", "I5"],
});

const planning = (mistake: (real: typeof planTransfers) => typeof planTransfers): Mutation => ({
  module: "functions/src/stockPlan.ts",
  declaration: "planTransfers",
  mistake,
  breaks: ["I12"],
});

type BatchOf = (...args: unknown[]) => unknown;

export const stockMutations: Record<string, Mutation> = {
  "a transfer without the precondition": transferring(withoutPreconditions),
  "a transfer gives first and takes later": transferring(inTwoCommits(({ lastUpdateTime }) => !lastUpdateTime)),
  "units stay in base and beyond the shards of writers": planning((real) => (shards, shardCount) => {
    return real(shards, shardCount).filter(({ from }) => Number(from.id) < shardCount);
  }),
  "a fold moves units of a bounded counter into base": {
    module: "functions/src/shards.ts",
    declaration: "foldableShards",
    mistake:
      (real: typeof foldableShards): typeof foldableShards =>
      (shards, fromIndex, quietSince) =>
        real(shards, fromIndex, quietSince),
    breaks: ["I12"],
    isRare: true,
  },
  "a server's take without the precondition": {
    module: "admin/src/stock.ts",
    declaration: "batchOf",
    mistake:
      (real: BatchOf): BatchOf =>
      (...args) => {
        const batch = real(...args) as WriteBatch;
        for (const [index, write] of batch.writes.entries()) {
          batch.writes[index] = { ...write, lastUpdateTime: undefined };
        }
        return batch;
      },
    breaks: ["I12"],
  },
  "a server's take with another receipt for each try": {
    module: "admin/src/receipt.ts",
    declaration: "createReceipt",
    mistake:
      (real: typeof createReceipt): typeof createReceipt =>
      (receipt) =>
      (batch) =>
        real(receipt.parent.doc())(batch),
    breaks: ["I12", "I1", "I5", "I9", "I13"],
  },
  "a server's take does not look for what it has committed": {
    module: "admin/src/stock.ts",
    declaration: "takenBy",
    mistake: () => async () => undefined,
    breaks: ["I12", "completion"],
  },
  "a client is told that nothing is left by the published stock": {
    module: "client/src/web/sum.ts",
    declaration: "sumShards",
    mistake: () => async () => 0,
    breaks: ["I12"],
  },
  "a client does not look for what it has taken": {
    module: "client/src/web/stock.ts",
    declaration: "read",
    mistake: () => async () => undefined,
    breaks: ["completion", "I12"],
  },
  "a take lists the shards within two seconds": {
    module: "client/src/web/stock.ts",
    declaration: "actualStock",
    mistake:
      (real: (counter: unknown, timeout: number) => unknown): typeof real =>
      (counter) =>
        real(counter, 2_000),
    breaks: ["completion"],
    isRare: true,
  },
  "a client believes the first refusal of a shard that has the units": {
    module: "client/src/web/stock.ts",
    declaration: "MAX_REFUSALS",
    mistake: () => 1,
    breaks: ["completion"],
  },
  "the rules let a shard fall below zero": {
    module: "test/simulation/model/rules.ts",
    declaration: "isInBounds",
    mistake: () => () => true,
    breaks: ["I12"],
  },
};
