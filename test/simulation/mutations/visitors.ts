/** Mistakes in counting visitors. */
import type { QueryDocumentSnapshot, WriteBatch } from "firebase-admin/firestore";
import { setsForCreates, withoutPreconditions } from "../batchEdits.ts";
import type { WriteBatch as ModelBatch } from "../model/adminSdk.ts";
import { type Mutation, merging, mergingWith } from "./seams.ts";

export const visitorMutations: Record<string, Mutation> = {
  "a merge without preconditions": mergingWith("visitors", ["I10"], (writes, commit) =>
    withoutPreconditions(writes, (rest) => setsForCreates(rest, commit)),
  ),
  "a merge is never scheduled": merging(
    "visitors",
    ["I10"],
    (real) =>
      (backend, ...rest) =>
        real({ ...backend, schedule: async () => {} }, ...rest),
  ),
  "an instance believes that its merge has seen later visitors": merging(
    "visitors",
    ["I10"],
    (real) =>
      async (...args) => {
        const merged = await real(...args);
        return { ...merged, asOf: merged.asOf + 2_000 };
      },
  ),
  "a merged bucket is deleted as it is now": {
    module: "functions/src/visitors.ts",
    declaration: "remove",
    mistake:
      () =>
      async ({ ref }: QueryDocumentSnapshot) =>
        void (await ref.delete()),
    breaks: ["I10"],
  },
  "a reset deletes the sketch": {
    module: "admin/src/reset.ts",
    declaration: "forgetVisitors",
    mistake: (real: (batch: WriteBatch, ref: unknown) => Promise<void>) => async (batch: WriteBatch, ref: unknown) => {
      await real(batch, ref);
      const { writes } = batch as unknown as ModelBatch;
      const index = writes.findIndex(({ path }) => path.endsWith("/sketches/uniques"));
      writes[index] = { path: writes[index]?.path ?? "", kind: "delete" };
    },
    breaks: ["I10"],
  },
};
