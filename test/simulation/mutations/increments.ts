/** Mistakes in the increments of clients and servers, and in the rules. */
import type { Data, Write } from "../model/database.ts";
import { Bytes, FieldValue } from "../model/values.ts";
import { STOCK } from "../scenario/scenario.ts";
import { committing, isDeletion, setsForCreates, sleep, those, withoutPreconditions } from "./edits.ts";
import type { Edit, Mutation } from "./mutation.ts";

const isReceipt = ({ path }: Write) => path.includes("/tallyReceipts/") && !path.includes(`/${STOCK}/`);
const receipts = (edit: Edit) => committing("server", isReceipt, edit);

const isEntry = ({ path }: Write) => path.includes("/tallyEntries/") && !path.includes(`/${STOCK}/`);
const isUndo = (write: Write) => isEntry(write) && isDeletion(write);

/** The write of a shard with another mark. */
function withOtherNonce(write: Write): Write {
  const [[slot = "", { at, nonces } = {}] = []] = Object.entries((write.data?.marks ?? {}) as Record<string, Data>);
  if (!(nonces instanceof FieldValue)) return write;
  const [nonce] = nonces.elements as [Bytes];
  const other = FieldValue.arrayUnion(Bytes.fromUint8Array(nonce.map((byte) => byte ^ 1)));
  return { ...write, data: { ...write.data, marks: { [slot]: { at, nonces: other } } } as Data };
}

/** When a process has made its last commit. */
const committedAt = new WeakMap<object, number>();

/** Edits the commits of a server after its first one. */
const later = (edit: Edit) =>
  receipts(async (writes, commit, by) => {
    if (committedAt.has(by.process)) return await edit(writes, commit, by);
    const done = await commit(writes);
    committedAt.set(by.process, Date.now());
    return done;
  });

export const incrementMutations: Record<string, Mutation> = {
  "a receipt is set instead of created": { ...receipts(setsForCreates), breaks: ["I5"], seed: 36 },
  "each try has a receipt of its own": {
    ...receipts(those(isReceipt, (write) => ({ ...write, path: `${write.path}${Math.random()}` }))),
    breaks: ["I5", "I12"],
    seed: 88,
  },
  "increments made while a commit is pending are dropped": {
    ...later(async (writes, commit, { process }) => {
      // Increments that waited for the commit before begin at the instant at which that is done.
      const isCombined = committedAt.get(process) === Date.now();
      const done = await (isCombined ? writes.map(() => 0) : commit(writes));
      committedAt.set(process, Date.now());
      return done;
    }),
    breaks: ["I5"],
    seed: 35,
  },
  "a server that has committed once never commits again": {
    ...later(() => new Promise(() => {})),
    breaks: ["completion"],
    seed: 10,
  },
  "all increments have the same nonce": { random: () => 0.5, breaks: ["I5", "I12", "completion"] },
  "the queue gets another plan than the commit before it": {
    ...committing(
      "client",
      ({ data }) => data?.marks !== undefined,
      (writes, commit, { via }) =>
        commit(via === "queue" && !writes.some(isEntry) ? writes.map(withOtherNonce) : writes),
    ),
    breaks: ["I5"],
  },
  "the rules do not compare the nonce": { withoutRule: "the nonce is new", breaks: ["I5"] },
  "a slot is removed at any time": {
    withoutRule: "a slot is old",
    breaks: ["I5"],
    seed: 46,
  },
  "a server's increment with `once` without its entry's precondition": {
    ...committing("server", isEntry, setsForCreates),
    breaks: ["I8"],
    seed: 72,
  },
  "an undo without its entry's precondition": {
    ...committing("server", isUndo, withoutPreconditions),
    breaks: ["I8"],
    seed: 2086,
  },
  "a call with `once` does not wait for the one before": {
    call: async (action, make) => {
      if (action === "like") await sleep(1_000);
      return await make();
    },
    breaks: ["I8"],
    seed: 391,
  },
  "an increment overtakes an undo in the queue": {
    ...committing("client", isUndo, async (writes, commit) => {
      await sleep(30_000);
      return await commit(writes);
    }),
    breaks: ["I8"],
    seed: 444,
  },
};
