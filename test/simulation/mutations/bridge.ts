/** Mistakes in the move from Google's counter extension. */
import type { DocumentSnapshot, FieldPath, WriteBatch } from "firebase-admin/firestore";
import type { takeLegacyIncrements } from "../../../admin/src/takeLegacyIncrements.ts";
import { type Edit, eachWrite, editingCommits, inTwoCommits, withoutPreconditions } from "../batchEdits.ts";
import { FieldValue, Timestamp } from "../model/values.ts";
import { BRIDGED } from "../scenario.ts";
import { type Mutation, publishing } from "./seams.ts";

type Take = typeof takeLegacyIncrements;
const taking = (mistake: (real: Take) => Take): Omit<Mutation, "breaks"> => ({
  module: "admin/src/takeLegacyIncrements.ts",
  declaration: "takeLegacyIncrements",
  mistake,
});
const takingWith = (edit: Edit) =>
  taking(
    (real) =>
      (firestore, ...rest) =>
        real(editingCommits({ firestore }, edit).firestore, ...rest),
  );

export const bridgeMutations: Record<string, Mutation> = {
  "a take without preconditions": { ...takingWith(withoutPreconditions), breaks: ["I9"] },
  "a take deletes the shards in a commit of its own": {
    ...takingWith(inTwoCommits(({ kind }) => kind !== "delete")),
    breaks: ["I9"],
  },
  "a take does not record what the field shows": {
    ...takingWith((writes, commit) => commit(writes.filter(({ path }) => path !== `counters/${BRIDGED.counter}`))),
    breaks: ["I9"],
  },
  "a take does not raise the field": {
    ...takingWith((writes, commit) => commit(writes.filter(({ path }) => path !== BRIDGED.document))),
    breaks: ["I9"],
  },
  "a publish sets a field that others add to": {
    ...publishing((writes, commit) => {
      const total = writes[0]?.data?.total as number;
      const isField = ({ path }: { path: string }) => path === BRIDGED.document;
      return eachWrite((write) => (isField(write) ? { ...write, data: { [BRIDGED.field]: total } } : write))(
        writes,
        commit,
      );
    }),
    breaks: ["I9"],
  },
  "a publish adds to a field that is gone": {
    module: "functions/src/publish.ts",
    declaration: "addToField",
    mistake: () => (batch: WriteBatch, shown: DocumentSnapshot, field: FieldPath, total: number, mirrored: number) =>
      batch.update(shown.ref, field, FieldValue.increment(total - mirrored) as never),
    breaks: ["I9"],
  },
  "an instance believes that its take has seen later writes": {
    ...taking((real) => async (...args) => {
      const taken = await real(...args);
      return { ...taken, asOf: Timestamp.fromMillis(taken.asOf.toMillis() + 2_000) as never };
    }),
    breaks: ["I9"],
  },
};
