/** Mistakes in counting keys. */
import type { WriteBatch } from "firebase-admin/firestore";
import type { CounterRef } from "../../../admin/src/counter.ts";
import { eachWrite, inTwoCommits, setsForCreates, withoutPreconditions } from "../batchEdits.ts";
import type { WriteBatch as ModelBatch } from "../model/adminSdk.ts";
import { type Mutation, mergingWith } from "./seams.ts";

const isDeletion = ({ kind }: { readonly kind: string }) => kind === "delete";

type ForgetKeys = (batch: WriteBatch, ref: CounterRef, ...rest: unknown[]) => void;

export const topKeysMutations: Record<string, Mutation> = {
  "a merge of keys without preconditions": mergingWith("keys", ["I13"], (writes, commit) =>
    withoutPreconditions(writes, (rest) => setsForCreates(rest, commit)),
  ),
  "a merge of keys overwrites a summary that has changed": mergingWith(
    "keys",
    ["I13"],
    eachWrite((write) => (write.path.endsWith("/keySummary") ? { ...write, lastUpdateTime: undefined } : write)),
  ),
  "keys are deleted after the commit of their merge": mergingWith(
    "keys",
    ["I13"],
    inTwoCommits((write) => !isDeletion(write)),
  ),
  "a reset of keys forgets only those that are merged": {
    module: "admin/src/reset.ts",
    declaration: "forgetKeys",
    mistake:
      (real: ForgetKeys) =>
      (batch: WriteBatch, ref: CounterRef, ...rest: unknown[]) => {
        real(batch, ref, ...rest);
        const { writes } = batch as unknown as ModelBatch;
        for (const { path, data } of writes)
          if (path.endsWith("/keySummary")) delete (data as { resetAt?: unknown }).resetAt;
      },
    breaks: ["I13"],
  },
};
