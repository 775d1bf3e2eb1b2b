/** Mistakes in the move from Google's counter. */
import type { Write } from "../model/database.ts";
import { FieldValue } from "../model/values.ts";
import { BRIDGED } from "../scenario/scenario.ts";
import { inTwoCommits, isDeletion, publishing, those, without, withoutPreconditions } from "./edits.ts";
import type { Edit, Mutation } from "./mutation.ts";

const counter = `counters/${BRIDGED.counter}`;
const isField = ({ path }: Write) => path === BRIDGED.document;
const isNote = ({ path, data = {} }: Write) => path === counter && "mirrored" in data && !("total" in data);

/** Edits moves: the commits that note what the field shows, except those of a rollback. */
const moving = (edit: Edit): Pick<Mutation, "commit"> => ({
  commit: (writes, commit, by) =>
    writes.some(isNote) && !by.process.name.startsWith("giveBack") ? edit(writes, commit, by) : commit(writes),
});

export const bridgeMutations: Record<string, Mutation> = {
  "a move without preconditions": { ...moving(withoutPreconditions), breaks: ["I9"], seed: 8 },
  "a move deletes the shards in a commit of its own": {
    ...moving(inTwoCommits((write) => !isDeletion(write))),
    breaks: ["I9"],
  },
  "a move does not record what the field shows": { ...moving(without(isNote)), breaks: ["I9"] },
  "a move does not raise the field": { ...moving(without(isField)), breaks: ["I9"] },
  "an import counts as increments": {
    ...moving(those(isNote, ({ data: { adjusted: _, ...data } = {}, ...write }) => ({ ...write, data }))),
    breaks: ["I11"],
  },
  "a publish sets a field that others add to": {
    ...publishing((writes, commit) => {
      const total = writes[0]?.data?.total as number;
      return commit(writes.map((write) => (isField(write) ? { ...write, data: { [BRIDGED.field]: total } } : write)));
    }),
    breaks: ["I9"],
    seed: 9,
  },
  "a publish adds to a field that is gone": {
    ...publishing((writes, commit, { database }) => {
      const mirrored = Number(database.get(counter).fields?.mirrored ?? 0);
      const isGone = (write: Write) => isField(write) && typeof write.data?.[BRIDGED.field] === "number";
      const added = (total: unknown) => FieldValue.increment(Number(total) - mirrored);
      return commit(
        writes.map((write) =>
          isGone(write)
            ? { ...write, lastUpdateTime: undefined, data: { [BRIDGED.field]: added(write.data?.[BRIDGED.field]) } }
            : write,
        ),
      );
    }),
    breaks: ["I9"],
    seed: 159,
  },
  "an instance believes that its move has seen later writes": {
    readTime: (at, { collection }, { name }) =>
      name.startsWith("instance") && collection === `${BRIDGED.document}/_counter_shards_` ? at + 10_000_000 : at,
    breaks: ["I9"],
    seed: 328,
  },
};
