/**
 * Mistakes planted in the code under test, and the invariants that they violate. The simulation must find each of them. A
 * mutation takes the real function or constant, and returns the faulty one.
 */

import type { adjustBase, commitAdjustment } from "../../admin/src/base.ts";
import type { combine } from "../../admin/src/combine.ts";
import type { CreateDocument } from "../../admin/src/commit.ts";
import type { Counter, CounterRef } from "../../admin/src/counter.ts";
import type { addWithReceipt } from "../../admin/src/receipt.ts";
import type { reconcileCounter } from "../../admin/src/reconcile.ts";
import { sourceAggregation } from "../../admin/src/source.ts";
import type { ShardSum, sumOfListed, sumShards } from "../../admin/src/sum.ts";
import type { addWrites } from "../../client/src/web/commit.ts";
import { isPreconditionFailure, type planIncrement, type Source } from "../../core/src/index.ts";
import type { aggregate, runTask } from "../../functions/src/aggregate.ts";
import type { AggregationTask, Cause } from "../../functions/src/cause.ts";
import { type Published, readCounter } from "../../functions/src/counterDocument.ts";
import type { decide, Step } from "../../functions/src/decide.ts";
import type { fold } from "../../functions/src/fold.ts";
import type { historyWrites, isMinuteInHistory } from "../../functions/src/history.ts";
import type { nextPublishDue, publishInterval } from "../../functions/src/interval.ts";
import type { hasSilentShards, includesWrite } from "../../functions/src/measurement.ts";
import type { nextPublished } from "../../functions/src/nextPublished.ts";
import type { nextPhase, Phase, pollDelay } from "../../functions/src/phase.ts";
import type { publish } from "../../functions/src/publish.ts";
import type { createWakeHandler, latestDeletionTime } from "../../functions/src/wake.ts";
import {
  type Edit,
  eachWrite,
  editingCommits,
  inTwoCommits,
  setsForCreates,
  withoutPreconditions,
} from "./batchEdits.ts";
import type { Seam } from "./bundle.ts";
import type { Write } from "./model/database.ts";

export interface Mutation extends Seam {
  readonly mistake: (real: never) => unknown;
  readonly breaks: readonly string[];
  /** The first seed to try, where the first few do not find the mistake. */
  readonly seed?: number;
  /** Whether 4,000 seeds do not find it. Then the tests skip it, and only the command line runs it. */
  readonly isRare?: true;
}

/** Edits what `commit` of publish.ts commits. */
type CommitPublish = (state: { readonly ref: CounterRef & object }, ...rest: unknown[]) => Promise<void>;
const publishing = (edit: Edit) => ({
  module: "functions/src/publish.ts",
  declaration: "commit",
  mistake:
    (real: CommitPublish): CommitPublish =>
    (state, ...rest) =>
      real({ ...state, ref: editingCommits(state.ref, edit) }, ...rest),
});

const isMirror = (path: string) => !path.startsWith("counters/");
const isHistory = (path: string) => path.includes("/history/");
const isReceipt = (path: string) => path.includes("/receipts/");

/** Changes the decision of `decide`. */
type Decide = typeof decide;
const deciding = (change: (step: Step, ...args: Parameters<Decide>) => Step) => ({
  module: "functions/src/decide.ts",
  declaration: "decide",
  mistake:
    (real: Decide): Decide =>
    (...args) =>
      change(real(...args), ...args),
});

/** Changes `isCovered` of decide.ts: whether a publish covers a cause. */
type IsCovered = (cause: Cause, published: Published, margin: number) => boolean;
const covering = (mistake: (real: IsCovered) => IsCovered) => ({
  module: "functions/src/decide.ts",
  declaration: "isCovered",
  mistake,
});

const due = (mistake: (real: typeof nextPublishDue) => typeof nextPublishDue) => ({
  module: "functions/src/interval.ts",
  declaration: "nextPublishDue",
  mistake,
});

const receipts = (edit: Edit) => ({
  module: "admin/src/receipt.ts",
  declaration: "addWithReceipt",
  mistake:
    (real: typeof addWithReceipt): typeof addWithReceipt =>
    (counter, by) =>
      real(editingCommits(counter, edit), by),
});

const combining = (mistake: (real: typeof combine) => typeof combine) => ({
  module: "admin/src/combine.ts",
  declaration: "combine",
  mistake,
});

const folding = (edit: Edit) => ({
  module: "functions/src/fold.ts",
  declaration: "fold",
  mistake:
    (real: typeof fold): typeof fold =>
    (shards, ...rest) =>
      real(editingCommits(shards, edit), ...rest),
});

const withoutGuardOfBase = (write: Write): Write =>
  write.path.endsWith("/base") ? { ...write, kind: "merge", lastUpdateTime: undefined } : write;

type Transaction = FirebaseFirestore.Transaction;
type Shards = FirebaseFirestore.CollectionReference;
type SumByIndex = (transaction: Transaction, shards: Shards) => Promise<ShardSum | undefined>;

const isSame = (one: Published, other: Published) =>
  (["total", "writes", "shardCount", "nextPollAt", "shardDocuments"] as const).every(
    (field) => one[field] === other[field],
  );

export const mutations: Record<string, Mutation> = {
  "publish without the guard": { ...publishing(withoutPreconditions), breaks: ["I3", "I4"] },
  "publish creates over an existing document": { ...publishing(setsForCreates), breaks: ["I3", "I4", "history"] },
  "an unchanged measurement is not published": {
    ...deciding((step, _, { previous }) =>
      step.do === "publish" && previous && isSame(previous, step.next) ? { do: "nothing" } : step,
    ),
    breaks: ["I2"],
    seed: 78,
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
    seed: 2684,
  },
  "a deletion is dated by a clock that may be behind": {
    module: "functions/src/wake.ts",
    declaration: "latestDeletionTime",
    mistake: (): typeof latestDeletionTime => (_, now) => now,
    breaks: ["I2"],
    seed: 1823,
  },
  "a mirror is written after the publish": {
    ...publishing(inTwoCommits(({ path }) => !isMirror(path))),
    breaks: ["I1"],
  },
  "a mirror's document is created": {
    ...publishing(eachWrite((write) => (isMirror(write.path) ? { ...write, kind: "merge" } : write))),
    breaks: ["I1"],
  },
  "the history has what is published instead of what that replaces": {
    module: "functions/src/history.ts",
    declaration: "historyWrites",
    mistake:
      (real: typeof historyWrites): typeof historyWrites =>
      (previous, next, config) =>
        real(previous, next, config).map((kept) => ({ ...kept, state: { ...next, asOf: kept.state.asOf } })),
    breaks: ["history"],
  },
  "the history is written before the publish": {
    ...publishing(inTwoCommits(({ path }) => isHistory(path))),
    breaks: ["history"],
  },
  "a point replaces the others of its document": {
    ...publishing(eachWrite((write) => (isHistory(write.path) ? { ...write, kind: "set" } : write))),
    breaks: ["history"],
  },
  "a minute in which writing stopped is not kept": {
    module: "functions/src/history.ts",
    declaration: "isMinuteInHistory",
    mistake:
      (real: typeof isMinuteInHistory): typeof isMinuteInHistory =>
      (_, ...rest) =>
        real(undefined, ...rest),
    breaks: ["history"],
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
    breaks: ["I5"],
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
  "the interval is a millisecond": {
    module: "functions/src/interval.ts",
    declaration: "publishInterval",
    mistake: (): typeof publishInterval => () => 1,
    breaks: ["I4"],
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
  "every counter is swept for ever": {
    module: "functions/src/phase.ts",
    declaration: "POLLED_PHASES",
    mistake: (real: readonly Phase[]): readonly Phase[] => [...real, "idle"],
    breaks: ["I7"],
  },
  "publish as of now instead of the snapshot's instant": {
    module: "functions/src/publish.ts",
    declaration: "publish",
    mistake:
      (real: typeof publish): typeof publish =>
      (state, next, asOf, config) =>
        real(state, next, (asOf.constructor as typeof FirebaseFirestore.Timestamp).fromMillis(Date.now()), config),
    breaks: ["I1", "I2"],
  },
  "a refused publish counts as done": {
    module: "functions/src/publish.ts",
    declaration: "publish",
    mistake:
      (real: typeof publish): typeof publish =>
      async (...args) =>
        (await real(...args)) || true,
    breaks: ["I2"],
  },
  "a write is covered half a second after a publish": {
    ...covering((real) => (cause, published, margin) => real(cause, published, margin - 500)),
    breaks: ["I2"],
  },
  "busy promises more than its poll": {
    ...covering(
      (real) => (cause, published, margin) =>
        real(cause, published, margin) ||
        (published.phase === "busy" && published.nextPollAt !== null && published.nextPollAt + 1_000 >= cause.at),
    ),
    breaks: ["I2"],
    seed: 1623,
  },
  "nothing waits until a measurement is scheduled": {
    module: "functions/src/aggregate.ts",
    declaration: "aggregate",
    mistake:
      (real: typeof aggregate): typeof aggregate =>
      (backend, ...rest) => {
        const schedule = async (task: AggregationTask) => void backend.schedule(task).catch(() => undefined);
        return real({ ...backend, schedule }, ...rest);
      },
    breaks: ["I2"],
    seed: 409,
  },
  "schedule after the publish": {
    module: "functions/src/aggregate.ts",
    declaration: "aggregate",
    mistake:
      (real: typeof aggregate): typeof aggregate =>
      async (backend, ...rest) => {
        const tasks: AggregationTask[] = [];
        const outcome = await real({ ...backend, schedule: async (task) => void tasks.push(task) }, ...rest);
        for (const task of tasks) await backend.schedule(task);
        return outcome;
      },
    breaks: ["I2"],
  },
  "a counter with silent shards is not polled": {
    module: "functions/src/phase.ts",
    declaration: "nextPhase",
    mistake:
      (real: typeof nextPhase): typeof nextPhase =>
      (...args) =>
        real(...args) === "busy" ? "busy" : "idle",
    breaks: ["I2"],
  },
  "a poll that finds nothing new is the last": {
    ...deciding((step, { isPoll }, { previous }) =>
      step.do === "publish" && isPoll && step.next.writes === previous?.writes ? { do: "nothing" } : step,
    ),
    breaks: ["I2", "I7"],
  },
  "a quiet phase does not schedule its poll": {
    ...deciding((step) =>
      step.do === "publish" && step.next.phase === "quiet"
        ? { ...step, tasks: step.tasks.filter(({ isPoll }) => !isPoll) }
        : step,
    ),
    breaks: ["I2"],
  },
  "a poll gives way to an earlier one": {
    ...covering(
      (real) => (cause, published, margin) =>
        cause.isPoll && published.nextPollAt !== null
          ? published.nextPollAt !== cause.at
          : real(cause, published, margin),
    ),
    breaks: ["I2"],
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
  "a counter taken for new is not read again when it is not": {
    module: "functions/src/publish.ts",
    declaration: "publish",
    mistake:
      (real: typeof publish): typeof publish =>
      async (state, ...rest) =>
        (await real(state, ...rest)) || !state.updateTime,
    breaks: ["I1", "I2"],
  },
  "a measurement is published before it is due": {
    module: "functions/src/decide.ts",
    declaration: "decide",
    mistake:
      (real: Decide): Decide =>
      (cause, known, ...rest) => {
        const step = real(cause, known, ...rest);
        const { previous } = known;
        if (step.do !== "wait" || !previous) return step;
        return real(cause, { ...known, previous: { ...previous, asOf: previous.asOf - 100_000 } }, ...rest);
      },
    breaks: ["I4"],
  },
  "an early aggregation is not put off": {
    ...deciding((step, { isPoll }) =>
      step.do === "schedule" && step.task.isPoll === isPoll ? { do: "nothing" } : step,
    ),
    breaks: ["I2"],
  },
  "wake drops what comes while it is busy": {
    module: "functions/src/wake.ts",
    declaration: "createWakeHandler",
    mistake:
      (real: typeof createWakeHandler): typeof createWakeHandler =>
      (backend) => {
        const wake = real(backend);
        const busy = new Set<string>();
        return async (event) => {
          if (busy.has(event.counterId)) return;
          busy.add(event.counterId);
          await wake(event).finally(() => busy.delete(event.counterId));
        };
      },
    breaks: ["I2"],
  },
  "a scheduled measurement is remembered as a second later": {
    module: "functions/src/aggregate.ts",
    declaration: "aggregate",
    mistake:
      (real: typeof aggregate): typeof aggregate =>
      async (...args) => {
        const outcome = await real(...args);
        return outcome.scheduled === undefined ? outcome : { ...outcome, scheduled: outcome.scheduled + 1_000 };
      },
    breaks: ["I2"],
    isRare: true,
  },
  "a publish covers writes without a margin": {
    ...covering((real) => (cause, published) => real(cause, published, 0)),
    breaks: ["I2"],
    seed: 512,
  },
  "a measurement is trusted without finding the write": {
    module: "functions/src/measurement.ts",
    declaration: "includesWrite",
    mistake: (): typeof includesWrite => (_, shardId) => shardId !== undefined,
    breaks: ["I1", "I2"],
    seed: 535,
  },
  "fold without the precondition": { ...folding(withoutPreconditions), breaks: ["I5"] },
  "fold deletes first and adds to the base later": {
    ...folding(inTwoCommits(({ kind }) => kind === "delete")),
    breaks: ["I5", "I1"],
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
        real({ update, create: batch.create.bind(batch) } as typeof batch, ...rest);
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
    breaks: ["I5"],
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
    seed: 686,
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
  "fold before two minutes": {
    ...deciding((step, _cause, _known, now) => (step.do === "fold" ? { ...step, quietSince: now - 1_000 } : step)),
    breaks: ["I5"],
    seed: 759,
  },
  "a task finds no counter document and gives up": {
    module: "functions/src/aggregate.ts",
    declaration: "runTask",
    mistake:
      (real: typeof runTask): typeof runTask =>
      async (backend, task) => {
        await backend.sleep(task.due + backend.snapshotLag - backend.now());
        const { published } = await readCounter(backend.counters.doc(task.counterId));
        if (published) await real(backend, task);
      },
    breaks: ["I2"],
    seed: 91,
  },
  "a poll is for another instant than the document says": {
    module: "functions/src/nextPublished.ts",
    declaration: "nextPublished",
    mistake:
      (real: typeof nextPublished): typeof nextPublished =>
      (...args) => {
        const next = real(...args);
        return { ...next, nextPollAt: next.nextPollAt === null ? null : next.nextPollAt - 0.314_159_2 };
      },
    breaks: ["I2"],
  },
  "a publish that is no poll's ends the polls": {
    ...covering(
      (real) => (cause, published, margin) => cause.at <= published.asOf - margin || real(cause, published, margin),
    ),
    breaks: ["I2", "I7"],
    isRare: true,
  },
  "shards that were summed and not listed pass for none that are silent": {
    module: "functions/src/measurement.ts",
    declaration: "hasSilentShards",
    mistake:
      (real: typeof hasSilentShards): typeof hasSilentShards =>
      (measurement) =>
        measurement.shards !== undefined && real(measurement),
    breaks: ["I2"],
  },
  "an idle counter stays idle if nothing was written to a new shard": {
    module: "functions/src/nextPublished.ts",
    declaration: "nextPublished",
    mistake:
      (real: typeof nextPublished): typeof nextPublished =>
      (cause, known, ...rest) => {
        const next = real(cause, known, ...rest);
        const { previous } = known;
        const isWritten = next.writes !== previous?.writes || next.total !== previous.total;
        if (!previous || isWritten || cause.isPoll || previous.nextPollAt !== null) return next;
        return { ...next, phase: previous.phase, nextPollAt: null };
      },
    breaks: ["I2"],
    seed: 2650,
  },
  "a counted collection is due when a shard says so": {
    ...due(
      (real) =>
        (published, ...rest) =>
          real({ ...published, countedCollection: null }, ...rest),
    ),
    breaks: ["I4"],
    seed: 3778,
  },
  "a quiet counter forgets for how long": {
    module: "functions/src/nextPublished.ts",
    declaration: "quietFor",
    mistake: () => () => 0,
    breaks: ["I7"],
  },
  "a quiet counter with many shards is polled as rarely as one with few": {
    module: "functions/src/phase.ts",
    declaration: "pollDelay",
    mistake:
      (real: typeof pollDelay): typeof pollDelay =>
      (phase, activity, config) =>
        real(phase, { ...activity, shardCount: 1 }, config),
    breaks: ["I2"],
  },
  "an instance forgets that a counter is missing": {
    module: "functions/src/aggregate.ts",
    declaration: "aggregate",
    mistake:
      (real: typeof aggregate): typeof aggregate =>
      async (...args) => ({ ...(await real(...args)), missingAt: undefined }),
    breaks: ["I7"],
    seed: 42_690,
  },
  "a counter grows at every write": {
    ...due(
      (real) => (published, config, cause) =>
        cause ? published.asOf + config.minInterval : real(published, config, cause),
    ),
    breaks: ["I4"],
  },
};
