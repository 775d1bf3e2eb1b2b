/** Mistakes in measuring and publishing. */
import type { Data, Write } from "../model/database.ts";
import { type Fields, Timestamp } from "../model/values.ts";
import {
  configuring,
  deciding,
  eachWrite,
  inTwoCommits,
  isHistory,
  isMirror,
  knowingPrevious,
  publishing,
  refusedIsDone,
  setsForCreates,
  those,
  withoutPreconditions,
} from "./edits.ts";
import type { Edit, Mutation } from "./mutation.ts";

const isShards = (collection: string) => /^counters\/[^/]+\/shards$/.test(collection);

/** Writes some documents in another way: merges or replaces. */
const withKind = (kind: "merge" | "set", isOne: (path: string) => boolean): Edit =>
  those(
    ({ path }) => isOne(path),
    (write) => ({ ...write, kind }),
  );

/** The point of the history, with the state that is published. */
function ofNextState({ data, ...write }: Write, published: Data): Write {
  const [[key = "", point] = []] = Object.entries(data?.points as Fields);
  const { total, writes } = published as Fields;
  const points = { [key]: { ...(point as Fields), total, writes } } as Fields;
  return { ...write, data: { ...data, points } };
}

export const publishMutations: Record<string, Mutation> = {
  "publish without the guard": { ...publishing(withoutPreconditions), breaks: ["I3", "I4"] },
  "publish creates over an existing document": {
    ...publishing(setsForCreates),
    breaks: ["I3", "I4", "I9", "I10", "history"],
    seed: 2,
  },
  "a mirror is written after the publish": {
    ...publishing(inTwoCommits(({ path }) => !isMirror(path))),
    breaks: ["I1", "I9"],
  },
  "a mirror's document is created": {
    ...publishing(withKind("merge", isMirror)),
    breaks: ["I1"],
  },
  "the history has what is published instead of what that replaces": {
    ...publishing((writes, commit) => {
      const published = writes[0]?.data ?? {};
      return commit(writes.map((write) => (isHistory(write.path) ? ofNextState(write, published) : write)));
    }),
    breaks: ["history"],
  },
  "the history is written before the publish": {
    ...publishing(inTwoCommits(({ path }) => isHistory(path))),
    breaks: ["history"],
  },
  "a point replaces the others of its document": {
    ...publishing(withKind("set", isHistory)),
    breaks: ["history"],
    seed: 20,
  },
  "a minute in which writing stopped is not kept": {
    ...knowingPrevious((previous) => ({ ...previous, history: { hasMinute: false } })),
    breaks: ["history"],
  },
  "the interval is a millisecond": { ...configuring(() => ({ minInterval: 1, precision: 0 })), breaks: ["I4"] },
  "publish as of now instead of the snapshot's instant": {
    ...publishing(
      eachWrite((write) =>
        write.data?.asOf ? { ...write, data: { ...write.data, asOf: Timestamp.fromMillis(Date.now()) } } : write,
      ),
    ),
    breaks: ["I1", "I2", "I7", "I12"],
    seed: 3,
  },
  "a refused publish counts as done": { ...publishing(refusedIsDone), breaks: ["I2"], seed: 4 },
  "a measurement is published before it is due": {
    decide: (decide, cause, known, ...rest) => {
      const step = decide(cause, known, ...rest);
      const { previous } = known;
      if (step.do !== "wait" || !previous) return step;
      return decide(cause, { ...known, previous: { ...previous, asOf: previous.asOf - 100_000 } }, ...rest);
    },
    breaks: ["I4"],
    seed: 7,
  },
  "a counter grows at every write": {
    ...knowingPrevious((previous) => ({ ...previous, growing: true })),
    breaks: ["I4"],
    seed: 34,
  },
  "an unchanged measurement is not published": {
    ...deciding((step, _, { previous }) => {
      const same = ["total", "writes", "shardCount", "nextPollAt", "shardDocuments"] as const;
      const isSame = step.do === "publish" && previous && same.every((field) => previous[field] === step.next[field]);
      return isSame ? { do: "nothing" } : step;
    }),
    breaks: ["I2"],
    seed: 18,
  },
  "a publish covers writes without the snapshot lag": {
    backend: (backend) => ({ ...backend, snapshotLag: 0 }),
    breaks: ["I2", "I12"],
    seed: 307,
  },
  "sum and count of documents at two read times": {
    readTime: (at, { collection, needs }, { name }) =>
      name.startsWith("instance") && isShards(collection) && needs?.length === 0 ? at - 1_000_000 : at,
    breaks: ["I1", "I2"],
    seed: 17,
  },
  "documents outside the index are left out": {
    query: (plan, find, { name }) => {
      const isMeasured = isShards(plan.collection) && name.startsWith("instance");
      return find().filter(({ fields }) => !isMeasured || fields?.shard !== undefined);
    },
    breaks: ["I1", "I2"],
  },
  "a measurement locks what it reads": {
    transaction: (options, { name }) => (name.startsWith("instance") ? {} : options),
    breaks: ["I6"],
  },
};
