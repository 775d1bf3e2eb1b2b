/** Mistakes in the move from Google's counter extension. */
import type { DocumentSnapshot, FieldPath, WriteBatch } from "firebase-admin/firestore";
import type { moveLegacyIncrements } from "../../../admin/src/moveLegacyIncrements.ts";
import { type Edit, eachWrite, editingCommits, inTwoCommits, withoutPreconditions } from "../batchEdits.ts";
import type { Write } from "../model/database.ts";
import { FieldValue, Timestamp } from "../model/values.ts";
import { BRIDGED } from "../scenario/scenario.ts";
import { type Mutation, publishing } from "./seams.ts";

type Move = typeof moveLegacyIncrements;
const moving = (mistake: (real: Move) => Move): Omit<Mutation, "breaks"> => ({
  module: "admin/src/moveLegacyIncrements.ts",
  declaration: "moveLegacyIncrements",
  mistake,
});
const movingWith = (edit: Edit) =>
  moving(
    (real) =>
      (firestore, ...rest) =>
        real(editingCommits({ firestore }, edit).firestore, ...rest),
  );

export const bridgeMutations: Record<string, Mutation> = {
  "a move without preconditions": { ...movingWith(withoutPreconditions), breaks: ["I9"] },
  "a move that leaves the field as it is does not look whether it has changed": {
    ...movingWith((writes, commit) => {
      const raises = (value: unknown) => value instanceof FieldValue && value.operand !== 0;
      const isKept = ({ path, data = {} }: Write) => path === BRIDGED.document && !Object.values(data).some(raises);
      return commit(writes.filter((write) => !isKept(write)));
    }),
    isRare: true,
    breaks: ["I9"],
  },
  "a move deletes the shards in a commit of its own": {
    ...movingWith(inTwoCommits(({ kind }) => kind !== "delete")),
    breaks: ["I9"],
  },
  "a move does not record what the field shows": {
    ...movingWith((writes, commit) => commit(writes.filter(({ path }) => path !== `counters/${BRIDGED.counter}`))),
    breaks: ["I9"],
  },
  "a move does not raise the field": {
    ...movingWith((writes, commit) => commit(writes.filter(({ path }) => path !== BRIDGED.document))),
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
  "an instance believes that its move has seen later writes": {
    ...moving((real) => async (...args) => {
      const moved = await real(...args);
      return { ...moved, asOf: Timestamp.fromMillis(moved.asOf.toMillis() + 2_000) as never };
    }),
    breaks: ["I9"],
  },
};
