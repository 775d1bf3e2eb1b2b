/** The seams of mutations: the declarations that several mutations replace, and helpers to replace them. */
import type { combine } from "../../../admin/src/combine.ts";
import type { CounterRef } from "../../../admin/src/counter.ts";
import type { addWithReceipt } from "../../../admin/src/receipt.ts";
import type { ShardSum } from "../../../admin/src/sum.ts";
import type { Backend } from "../../../functions/src/backend.ts";
import type { Cause } from "../../../functions/src/cause.ts";
import type { Published } from "../../../functions/src/counterDocument.ts";
import type { decide, Step } from "../../../functions/src/decide.ts";
import type { fold } from "../../../functions/src/fold.ts";
import type { nextPublishDue } from "../../../functions/src/interval.ts";
import type { Merging } from "../../../functions/src/merge.ts";
import { type Edit, editingCommits } from "../batchEdits.ts";
import type { Seam } from "../bundle.ts";
import type { World } from "../bundleEntry.ts";
import type { Write } from "../model/database.ts";

export interface Mutation extends Seam {
  readonly mistake: (real: never) => unknown;
  readonly breaks: readonly string[];
  /** Where the mistake shows. Default: in one database. */
  readonly world?: World;
  /** The first seed to try, where the first few do not find the mistake. */
  readonly seed?: number;
  /** Whether 4,000 seeds do not find it. Then the tests skip it, and only the command line runs it. */
  readonly isRare?: true;
}

/** Edits what `commit` of publish.ts commits. */
export type CommitPublish = (state: { readonly ref: CounterRef & object }, ...rest: unknown[]) => Promise<void>;
export const publishing = (edit: Edit) => ({
  module: "functions/src/publish.ts",
  declaration: "commit",
  mistake:
    (real: CommitPublish): CommitPublish =>
    (state, ...rest) =>
      real({ ...state, ref: editingCommits(state.ref, edit) }, ...rest),
});

export const isMirror = (path: string) => !path.startsWith("counters/");
export const isHistory = (path: string) => path.includes("/history/");
export const isReceipt = (path: string) => path.includes("/receipts/");

/** Changes the decision of `decide`. */
export type Decide = typeof decide;
export const deciding = (change: (step: Step, ...args: Parameters<Decide>) => Step) => ({
  module: "functions/src/decide.ts",
  declaration: "decide",
  mistake:
    (real: Decide): Decide =>
    (...args) =>
      change(real(...args), ...args),
});

/** Changes `isCovered` of decide.ts: whether a publish covers a cause. */
export type IsCovered = (cause: Cause, published: Published, snapshotLag: number) => boolean;
export const covering = (mistake: (real: IsCovered) => IsCovered) => ({
  module: "functions/src/decide.ts",
  declaration: "isCovered",
  mistake,
});

export const due = (mistake: (real: typeof nextPublishDue) => typeof nextPublishDue) => ({
  module: "functions/src/interval.ts",
  declaration: "nextPublishDue",
  mistake,
});

export const receipts = (edit: Edit) => ({
  module: "admin/src/receipt.ts",
  declaration: "addWithReceipt",
  mistake:
    (real: typeof addWithReceipt): typeof addWithReceipt =>
    (counter, by) =>
      real(editingCommits(counter, edit), by),
});

export const combining = (mistake: (real: typeof combine) => typeof combine) => ({
  module: "admin/src/combine.ts",
  declaration: "combine",
  mistake,
});

export type MergeOrSchedule = (
  backend: Backend,
  kind: Merging,
  counterId: string,
  at: number,
) => Promise<{ asOf: number; scheduled: number }>;

/** Changes the merges of visitors or of keys. */
export const merging = (
  kind: Merging["kind"],
  breaks: readonly string[],
  mistake: (real: MergeOrSchedule) => MergeOrSchedule,
): Mutation => ({
  module: "functions/src/merge.ts",
  declaration: "mergeOrSchedule",
  mistake:
    (real: MergeOrSchedule): MergeOrSchedule =>
    (backend, merged, ...rest) =>
      (merged.kind === kind ? mistake(real) : real)(backend, merged, ...rest),
  breaks,
});

/** Edits what these merges commit. */
export const mergingWith = (kind: Merging["kind"], breaks: readonly string[], edit: Edit) =>
  merging(kind, breaks, (real) => (backend, ...rest) => {
    const doc = (id: string) => editingCommits(backend.counters.doc(id), edit);
    return real({ ...backend, counters: { doc } as unknown as Shards }, ...rest);
  });

export const folding = (edit: Edit) => ({
  module: "functions/src/fold.ts",
  declaration: "fold",
  mistake:
    (real: typeof fold): typeof fold =>
    (shards, ...rest) =>
      real(editingCommits(shards, edit), ...rest),
});

export const withoutGuardOfBase = (write: Write): Write =>
  write.path.endsWith("/base") ? { ...write, kind: "merge", lastUpdateTime: undefined } : write;

export type Transaction = FirebaseFirestore.Transaction;
export type Shards = FirebaseFirestore.CollectionReference;
export type SumByIndex = (transaction: Transaction, shards: Shards) => Promise<ShardSum | undefined>;

export const isSame = (one: Published, other: Published) =>
  (["total", "writes", "shardCount", "nextPollAt", "shardDocuments"] as const).every(
    (field) => one[field] === other[field],
  );
