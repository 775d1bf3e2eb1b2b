/** Mistakes in increments that go to the counter document: of clients, of the rules, of publishes, of operators. */
import { DIRECT_SLOTS } from "../../../core/src/index.ts";
import { Code, type Data, type Database, Refused, type Version, type Write } from "../model/database.ts";
import { mapOf, noncesOf } from "../model/marks.ts";
import { type Fields, FieldValue } from "../model/values.ts";
import { committing, isDeletion, knowing, publishing, sleep, withoutPreconditions } from "./edits.ts";
import type { Committer, Edit, Mutation } from "./mutation.ts";

const isCounter = (path: string) => /^counters\/[^/]+$/.test(path);
const isDirect = ({ path, data = {} }: Write) => isCounter(path) && "direct" in data;
const storedIn = (database: Database, path: string): Fields => mapOf(database.get(path).fields?.direct);

/** With these, an outcome is known. */
const ANSWERS: readonly number[] = [Code.PERMISSION_DENIED, Code.ABORTED, Code.FAILED_PRECONDITION];

/** A counter document as a client sees it that does not know its own marks. */
function withOtherMarks(version: Version): Version {
  const { direct, ...fields } = version.fields ?? {};
  const { marks, ...parts } = mapOf(direct);
  if (!marks) return version;
  const slots = Object.entries(mapOf(marks)).map(([name, slot]): [string, Fields] => {
    const nonces = noncesOf(slot).map((nonce) => (nonce as Uint8Array).map((byte) => byte ^ 1));
    return [name, { ...mapOf(slot), nonces }];
  });
  return { ...version, fields: { ...fields, direct: { ...parts, marks: Object.fromEntries(slots) } } };
}

/**
 * The network delivers direct writes once more, up to ten minutes later. The rules must refuse that, whether they have refused the first copy
 * or not. (A like that was refused because it counted already may count after its undo.)
 */
export const replayingLate = committing("client", isDirect, async (writes, commit) => {
  const replay = () => void sleep(Math.random() * 600_000).then(() => commit(writes).catch(() => undefined));
  return await commit(writes).then(
    (done) => {
      replay();
      return done;
    },
    (error) => {
      const isRefused = error.code === Code.PERMISSION_DENIED || error.code === "permission-denied";
      if (isRefused && writes.length === 1) replay();
      throw error;
    },
  );
});

/** Changes the parts of the field `direct` that a publish of an existing counter writes, by field path. */
const publishingParts = (change: (data: Data, stored: Fields) => Data): Mutation => ({
  ...publishing((writes, commit, { database }) =>
    commit(
      writes.map((write) => {
        const isPublish = isCounter(write.path) && write.kind === "update" && "total" in (write.data ?? {});
        return isPublish ? { ...write, data: change(write.data ?? {}, storedIn(database, write.path)) } : write;
      }),
    ),
  ),
  breaks: [],
});

const alsoReplayingLate = ({ commit: edit, ...mutation }: Mutation): Mutation => ({
  ...mutation,
  commit: (writes, commit, by) =>
    (by.process.name.startsWith("client") ? replayingLate : { commit: edit }).commit?.(writes, commit, by) ??
    commit(writes),
});

const GENERATION = "direct.generation";
const isBegun = (data: Data) => data[GENERATION] !== undefined;
const slotOf = (generation: unknown) => `direct.marks.${Number(generation) % DIRECT_SLOTS}`;

/** Without what a publish changes of the field. */
const withoutParts = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith("direct.")));

/** An operator's commit that takes the direct increments for none. */
const leavingDirectOut: Edit = (writes, commit, { database }) =>
  commit(
    writes.map((write) => {
      const direct = Number(storedIn(database, write.path.replace("/shards/base", "")).count ?? 0);
      return write.path.endsWith("/shards/base") ? { ...write, data: withMore(write.data ?? {}, direct) } : write;
    }),
  );

function withMore({ count, ...data }: Data, by: number): Data {
  const more = count instanceof FieldValue ? FieldValue.increment(count.operand + by) : Number(count) + by;
  return { ...data, count: more };
}

const isBase = ({ path }: Write) => path.endsWith("/shards/base");

/** The undo of a direct like in shard 0 is made in the document, too. */
const alsoInDocument: Edit = (writes, commit, { database }: Committer) => {
  const entry = writes.find((write) => isDeletion(write) && write.path.includes("/tallyEntries/"));
  const isInShard0 = writes.some(({ path }) => path.endsWith("/shards/0"));
  if (!entry || !isInShard0 || database.get(entry.path).fields?.shard !== "direct") return commit(writes);
  const path = entry.path.replace(/\/tallyEntries.*/, "");
  const { generation } = storedIn(database, path);
  const nonces = FieldValue.arrayUnion(Uint8Array.from({ length: 5 }, () => Math.random() * 256));
  const marks = { [Number(generation) % DIRECT_SLOTS]: { at: FieldValue.serverTimestamp(), nonces } };
  const count = FieldValue.increment(-1);
  const direct = { generation, count, writes: FieldValue.increment(1), marks };
  return commit([...writes, { path, kind: "merge", data: { total: count, direct } as unknown as Data }]);
};

const MUTATIONS: Record<string, Mutation> = {
  "the rules do not compare the generation": {
    ...replayingLate,
    withoutRule: "the generation is named",
    breaks: ["I5", "I8"],
    seed: 88,
  },
  "a client goes to a shard without looking for its mark in the document": {
    document: (version, { name }) =>
      name.startsWith("client") && isCounter(version.path) ? withOtherMarks(version) : version,
    breaks: ["I5"],
    seed: 36,
  },
  "a client takes an unknown outcome for a refusal": {
    ...committing("client", isDirect, (writes, commit, { via }) =>
      commit(writes).catch((error) => {
        const isUnknown = via === "transaction" && error instanceof Refused && !ANSWERS.includes(error.code);
        throw isUnknown ? new Refused(Code.PERMISSION_DENIED, "unknown") : error;
      }),
    ),
    breaks: ["I5"],
    seed: 168,
  },
  "a publish of an open counter without the precondition": {
    ...publishing((writes, commit, by) => {
      const isOpen = writes.some(({ path }) => isCounter(path) && storedIn(by.database, path).open);
      return isOpen ? withoutPreconditions(writes, commit, by) : commit(writes);
    }),
    breaks: ["I1", "I3", "I4"],
    seed: 16,
  },
  "a publish leaves the direct count out": {
    ...knowing(({ direct, ...known }) => ({ ...known, direct: direct && { ...direct, count: 0 } })),
    breaks: ["I1", "I2"],
  },
  "a generation begins with the direct count 0": {
    ...publishingParts((data) => (isBegun(data) ? { ...data, "direct.count": 0 } : data)),
    breaks: ["I5"],
  },
  "a document is opened with its old generation": {
    ...alsoReplayingLate(
      publishingParts((data, { generation, open }) =>
        isBegun(data) && !open && generation !== undefined ? { ...withoutParts(data), "direct.open": true } : data,
      ),
    ),
    breaks: ["I5"],
    seed: 211,
  },
  "marks are emptied without a new generation": {
    ...publishingParts((data, { generation }) =>
      isBegun(data) && generation !== undefined
        ? { ...withoutParts(data), "direct.open": true, [slotOf(generation)]: FieldValue.delete() }
        : data,
    ),
    breaks: ["I5"],
    seed: 88,
  },
  "an undo is made in the document and in shard 0": {
    ...committing("client", isDeletion, alsoInDocument),
    withoutRule: "an undo is in one place",
    breaks: ["I8"],
  },
  "a reset leaves the direct count out": { ...committing("reset", isBase, leavingDirectOut), breaks: ["I5"] },
  "a reconcile leaves the direct count out": {
    ...committing("reconcile", isBase, leavingDirectOut),
    breaks: ["I5"],
    seed: 21,
  },
  "a counter with silent shards is opened": {
    ...publishingParts((data, { generation = 0, open, writes }) =>
      data.phase !== "idle" && !open && writes !== undefined
        ? {
            ...withoutParts(data),
            "direct.open": true,
            [GENERATION]: Number(generation) + 1,
            [slotOf(Number(generation) + 1)]: FieldValue.delete(),
          }
        : data,
    ),
    breaks: ["I2", "I5"],
    seed: 2_234,
  },
};

/** In the world of calm counters. */
export const directMutations: Record<string, Mutation> = Object.fromEntries(
  Object.entries(MUTATIONS).map(([name, mutation]) => [name, { world: "calm" as const, ...mutation }]),
);
