/** Mistakes in the packages of clients and servers, and in the rules. */
import type { adjustBase, commitAdjustment } from "../../../admin/src/base.ts";
import type { CreateDocument } from "../../../admin/src/commit.ts";
import type { Counter, CounterRef } from "../../../admin/src/counter.ts";
import type { reconcileCounter } from "../../../admin/src/reconcile.ts";
import { sourceAggregation } from "../../../admin/src/source.ts";
import type { sumOfListed, sumShards } from "../../../admin/src/sum.ts";
import type { addWrites } from "../../../client/src/web/commit.ts";
import type { inTurn } from "../../../client/src/web/turns.ts";
import { isPreconditionFailure, type planIncrement, type Source } from "../../../core/src/index.ts";
import { eachWrite, editingCommits, setsForCreates, withoutPreconditions } from "../batchEdits.ts";
import {
  combining,
  isReceipt,
  type Mutation,
  receipts,
  type SumByIndex,
  type Transaction,
  withoutGuardOfBase,
} from "./seams.ts";

type InTurn = typeof inTurn;
const takingTurns = (mistake: (real: InTurn) => InTurn): Omit<Mutation, "breaks"> => ({
  module: "client/src/web/turns.ts",
  declaration: "inTurn",
  mistake,
});

export const writerMutations: Record<string, Mutation> = {
  "a refused undo leaves the entry to a later one, which has found nothing": {
    ...takingTurns((real) => (counter, key, counts, call) => {
      let own: unknown;
      const isLast = () => counter._turns.get(key) === own;
      const outcome = real(counter, key, counts, (turn) => call({ ...turn, _isUndone: isLast }));
      own = counter._turns.get(key);
      return outcome;
    }),
    isRare: true,
    breaks: ["I8"],
  },
  "sum and count of documents at two read times": {
    module: "admin/src/sum.ts",
    declaration: "sumByIndex",
    mistake:
      (real: SumByIndex): SumByIndex =>
      (transaction, shards) => {
        const isCount = (query: object) => !("orders" in query);
        const get = (query: { get(): unknown }) =>
          isCount(query) ? query.get() : transaction.get(query as unknown as FirebaseFirestore.Query);
        return real({ get } as unknown as Transaction, shards);
      },
    breaks: ["I1", "I2"],
    seed: 6042,
  },
  "a server's increment without its receipt": {
    ...receipts((writes, commit) => commit(writes.filter(({ path }) => !isReceipt(path)))),
    breaks: ["I5"],
    seed: 74,
  },
  "a receipt is set instead of created": { ...receipts(setsForCreates), breaks: ["I5"], seed: 74 },
  "each try has a receipt of its own": {
    ...receipts(
      eachWrite((write) => (isReceipt(write.path) ? { ...write, path: `${write.path}${Math.random()}` } : write)),
    ),
    breaks: ["I5", "I12"],
    seed: 204,
  },
  "increments made while a commit is pending are dropped": {
    ...combining((real) => (commit) => {
      const add = real(commit);
      let isPending = false;
      return async (by) => {
        if (isPending) return;
        isPending = true;
        await add(by).finally(() => {
          isPending = false;
        });
      };
    }),
    breaks: ["I5"],
  },
  "combined increments count as the first alone": {
    ...combining((real) => (commit) => {
      let first: number | undefined;
      const add = real((sum) => {
        const by = first ?? sum;
        first = undefined;
        return commit(by);
      });
      return (by) => {
        first ??= by;
        return add(by);
      };
    }),
    breaks: ["I5"],
    seed: 204,
  },
  "a server that has committed once never commits again": {
    ...combining((real) => (commit) => {
      const add = real(commit);
      let last: Promise<void> | undefined;
      return (by) => {
        const isFirst = last === undefined;
        last ??= add(by);
        return isFirst ? last : new Promise(() => {});
      };
    }),
    breaks: ["completion"],
  },
  "a refused reset or correction counts as done": {
    module: "admin/src/base.ts",
    declaration: "commitAdjustment",
    mistake: (): typeof commitAdjustment => async (batch) => {
      await batch.commit().catch((error) => {
        if (!isPreconditionFailure(error)) throw error;
      });
    },
    breaks: ["I5"],
  },
  "a measurement locks what it reads": {
    module: "admin/src/sum.ts",
    declaration: "sumShards",
    mistake:
      (real: typeof sumShards): typeof sumShards =>
      (shards, snapshot = {} as never) =>
        real(shards, snapshot),
    breaks: ["I6"],
  },
  "documents outside the index are left out": {
    module: "admin/src/sum.ts",
    declaration: "sumByIndex",
    mistake:
      (real: SumByIndex): SumByIndex =>
      async (transaction, shards) => {
        const indexed = { ...shards, orderBy: shards.orderBy.bind(shards) };
        return await real(transaction, { ...indexed, count: () => shards.orderBy("shard").count() } as never);
      },
    breaks: ["I1", "I2"],
    seed: 74,
  },
  "measure goes by the shard count": {
    module: "admin/src/sum.ts",
    declaration: "sumOfListed",
    mistake:
      (real: typeof sumOfListed): typeof sumOfListed =>
      ({ docs, readTime }) =>
        real({ docs: docs.filter(({ id }) => !(Number(id) >= 3)), readTime } as FirebaseFirestore.QuerySnapshot),
    breaks: ["I1", "I2"],
  },
  "reset without the guard": {
    module: "admin/src/base.ts",
    declaration: "adjustBase",
    mistake:
      (real: typeof adjustBase): typeof adjustBase =>
      (batch, ...rest) => {
        const update: typeof batch.update = (ref: never, data: never) => batch.update(ref, data);
        real({ update, create: batch.create.bind(batch), set: batch.set.bind(batch) } as typeof batch, ...rest);
      },
    breaks: ["I5"],
  },
  "source and shards are read one after the other": {
    module: "admin/src/reconcile.ts",
    declaration: "readSourceAndShards",
    mistake:
      (real: (ref: CounterRef, given: unknown) => Promise<{ source: Source }>): typeof real =>
      async (ref, given) => {
        const found = await real(ref, given);
        return { ...found, ...(await sourceAggregation(ref, found.source).get()).data() };
      },
    breaks: ["I5"],
    seed: 100,
  },
  "a correction without an answer is made again": {
    module: "admin/src/reconcile.ts",
    declaration: "reconcileCounter",
    mistake:
      (real: typeof reconcileCounter): typeof reconcileCounter =>
      (ref, options) =>
        real(editingCommits(ref, eachWrite(withoutGuardOfBase)), options),
    breaks: ["I5"],
    seed: 820,
  },
  "all increments have the same nonce": {
    module: "core/src/writePlan.ts",
    declaration: "planIncrement",
    mistake:
      (real: typeof planIncrement): typeof planIncrement =>
      (...args) => ({ ...real(...args), nonce: new Uint8Array(4) }),
    breaks: ["I5", "I12", "completion"],
  },
  "a server's keyed increment without its entry's precondition": {
    module: "admin/src/increment.ts",
    declaration: "entry",
    mistake:
      (real: (...args: unknown[]) => CreateDocument): typeof real =>
      (...args) =>
      (writer, shard) =>
        real(...args)(Object.create(writer, { create: { value: writer.set.bind(writer) } }), shard),
    breaks: ["I8"],
    seed: 72,
  },
  "an undo without its entry's precondition": {
    module: "admin/src/increment.ts",
    declaration: "takeBack",
    mistake:
      (real: (counter: Counter, entry: unknown) => Promise<void>): typeof real =>
      (counter, entry) =>
        real(editingCommits(counter, withoutPreconditions), entry),
    breaks: ["I8"],
    seed: 2500,
  },
  "the rules do not compare the nonce": {
    module: "test/simulation/model/rules.ts",
    declaration: "isAppended",
    mistake:
      () =>
      (nonces: readonly unknown[], known: readonly unknown[]): boolean =>
        nonces.length >= known.length,
    breaks: ["I5"],
  },
  "a window is removed after 10 s": {
    module: "core/src/layout.ts",
    declaration: "MARK_LIFETIME_SECONDS",
    mistake: () => 10,
    breaks: ["I5"],
    isRare: true,
  },
  "the queue gets another plan than the commit before it": {
    module: "client/src/web/commit.ts",
    declaration: "addWrites",
    mistake:
      (real: typeof addWrites): typeof addWrites =>
      (writer, counter, plan, undoneShard) => {
        const isQueued = "commit" in writer && !plan.entry && !counter._watcher;
        real(writer, counter, isQueued ? { ...plan, nonce: plan.nonce.map((byte) => byte ^ 1) } : plan, undoneShard);
      },
    breaks: ["I5"],
  },
  "a call with a key does not wait for the one before": {
    ...takingTurns((real) => (counter, key, counts, call) => {
      counter._turns.delete(key);
      return real(counter, key, counts, call);
    }),
    breaks: ["I8"],
  },
  "an increment overtakes an undo in the queue": {
    ...takingTurns(
      (real) => (counter, key, counts, call) => real(counter, key, counts, (turn) => call({ ...turn, _isFirst: true })),
    ),
    breaks: ["I8"],
  },
};
