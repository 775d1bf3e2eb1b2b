/** Mistakes in counting visitors. */
import type { CollectionReference, QueryDocumentSnapshot, WriteBatch } from "firebase-admin/firestore";
import type { Backend } from "../../../functions/src/backend.ts";
import type { Merging } from "../../../functions/src/merge.ts";
import { type Edit, editingCommits, setsForCreates, withoutPreconditions } from "../batchEdits.ts";
import type { WriteBatch as ModelBatch } from "../model/adminSdk.ts";
import type { Mutation } from "./seams.ts";

type MergeOrSchedule = (
  backend: Backend,
  merging: Merging,
  counterId: string,
  at: number,
) => Promise<{ asOf: number; scheduled: number }>;

const merging = (mistake: (real: MergeOrSchedule) => MergeOrSchedule): Mutation => ({
  module: "functions/src/merge.ts",
  declaration: "mergeOrSchedule",
  mistake,
  breaks: ["I10"],
});

const mergingWith = (edit: Edit) =>
  merging((real) => (backend, ...rest) => {
    const doc = (id: string) => editingCommits(backend.counters.doc(id), edit);
    return real({ ...backend, counters: { doc } as unknown as CollectionReference }, ...rest);
  });

export const visitorMutations: Record<string, Mutation> = {
  "a merge without preconditions": mergingWith((writes, commit) =>
    withoutPreconditions(writes, (rest) => setsForCreates(rest, commit)),
  ),
  "a merge is never scheduled": merging(
    (real) =>
      (backend, ...rest) =>
        real({ ...backend, schedule: async () => {} }, ...rest),
  ),
  "an instance believes that its merge has seen later visitors": merging((real) => async (...args) => {
    const merged = await real(...args);
    return { ...merged, asOf: merged.asOf + 2_000 };
  }),
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
