/** Mistakes in counting visitors and items. */
import type { Write } from "../model/database.ts";
import {
  committing,
  inTwoCommits,
  isDeletion,
  late,
  notScheduling,
  those,
  unconditionally,
  withoutField,
  withoutPrecondition,
} from "./edits.ts";
import type { Edit, Mutation } from "./mutation.ts";

const isSketch = ({ path }: Write) => path.endsWith("/tallySketches/uniques");
const isSummary = ({ path }: Write) => path.endsWith("/tallySketches/itemSummary");
const isBucket = ({ path }: Write) => path.includes("/tallyVisitors/");

const mergingVisitors = (edit: Edit) => committing("instance", isSketch, edit);
const mergingItems = (edit: Edit) => committing("instance", isSummary, edit);

export const mergeMutations: Record<string, Mutation> = {
  "a merge without preconditions": { ...mergingVisitors(late(unconditionally)), breaks: ["I10"], seed: 29 },
  "a merge is never scheduled": { ...notScheduling(({ kind }) => kind === "mergeVisitors"), breaks: ["I10"] },
  "an instance believes that its merge has seen later visitors": {
    readTime: (at, { collection }, { name }) =>
      name.startsWith("instance") && collection.endsWith("/tallyVisitors") ? at + 2_000_000 : at,
    breaks: ["I10"],
    seed: 200,
  },
  "a merged bucket is deleted as it is now": {
    ...committing("instance", isBucket, those(isBucket, withoutPrecondition)),
    breaks: ["I10"],
    seed: 191,
  },
  "a reset deletes the sketch": {
    ...committing("", isSketch, (writes, commit, by) => {
      const edit = by.process.name.startsWith("reset")
        ? those(isSketch, ({ path }) => ({ path, kind: "delete" }))
        : late();
      return edit(writes, commit, by);
    }),
    breaks: ["I10"],
    seed: 16,
  },
  "a merge of items overwrites a summary that has changed": {
    ...mergingItems(late(those(isSummary, withoutPrecondition))),
    breaks: ["I13"],
    seed: 5,
  },
  "items are deleted after the commit of their merge": {
    ...mergingItems(inTwoCommits((write) => !isDeletion(write))),
    breaks: ["I13"],
    seed: 19,
  },
  "a reset of items forgets only those that are merged": {
    ...committing("reset", isSummary, withoutField("resetAt")),
    breaks: ["I13"],
    seed: 32,
  },
};
