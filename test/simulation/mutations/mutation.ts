/**
 * A mutation is a mistake that the simulation must find. It changes what the simulated world hands to the code under test, or gets
 * from it: a commit, a read, an event, a task, the configuration. The code itself stays as it is. The one function that a mutation
 * may change is `decide` (../decide.ts).
 *
 * `plant` plants a mutation for the runs that follow, and the world asks `planted` at each of these places. Without a mutation the
 * hooks are missing, draw no random numbers, and change no run.
 */
import type { Random } from "../../../core/testing/random.ts";
import type { Backend } from "../../../functions/src/counter/backend.ts";
import type { CounterTask } from "../../../functions/src/counter/cause.ts";
import type { DocumentEvent } from "../../../functions/src/shared/feature.ts";
import type { Decide, Step } from "../decide.ts";
import type { TransactionOptions } from "../model/adminSdk.ts";
import type { Change, Database, QueryPlan, Version, Write } from "../model/database.ts";
import type { Micros } from "../model/values.ts";
import type { Process } from "../scheduler.ts";

/** The worlds beside the usual one of one database. */
export const OTHER_WORLDS = {
  regions: "several regions instead of one database",
  adopted: "old apps write a counter that was made by hand",
  calm: "calm counters, whose increments go to their documents",
  users: "what tabs show to users who sign in and out, reload, and go offline",
  failing: "one step of the functions, such as folds, fails for long",
  worst: "one kind of fault in each run, as often as it can be; prints how late totals were",
} as const;
export type World = "one database" | keyof typeof OTHER_WORLDS;

/** Who commits, and how. The name of a process says what it is: `instance 0`, `server 1`, `client 2`, `reset`, `import`. */
export interface Committer {
  readonly process: Process;
  readonly database: Database;
  /** A web client's queue of writes or a transaction of its own; a server's batch. */
  readonly via: "batch" | "queue" | "transaction";
}

/** Commits writes. Resolves to their update times in microseconds, for a server; rejects as the SDK does. */
export type Commit = (writes: readonly Write[]) => Promise<unknown>;

/** Commits writes in another way: changed, in two commits, later, or not at all. */
export type Edit = (writes: readonly Write[], commit: Commit, by: Committer) => Promise<unknown>;

/** Finds documents: as asked, or those of another plan, or of another instant. */
type Find = (plan?: QueryPlan, at?: Micros) => readonly Version[];

/** What a mutation may change. */
export interface Hooks {
  /** A commit of a batch, or of a transaction of the web SDK. */
  readonly commit?: Edit;
  /** A document that a process reads. */
  readonly document?: (version: Version, process: Process) => Version;
  /** The documents that a query or an aggregation finds. Aggregations have `needs`, and a count has none in it. */
  readonly query?: (plan: QueryPlan, find: Find, process: Process) => readonly Version[];
  /** The instant of a query: what it finds, and what its answer says. */
  readonly readTime?: (at: Micros, plan: QueryPlan, process: Process) => Micros;
  /** How a server's transaction reads. */
  readonly transaction?: (options: TransactionOptions, process: Process) => TransactionOptions;
  /** A condition of the rules that is not checked. */
  readonly withoutRule?:
    | "the nonce is new"
    | "a shard of stock has units"
    | "a slot is old"
    | "the generation is named"
    | "an undo is in one place";
  /** The delivery of an event to the handler of an instance. */
  readonly event?: (
    event: DocumentEvent,
    handle: (event: DocumentEvent) => Promise<void>,
    from: { readonly name: string; readonly change: Change; readonly backend: Backend },
  ) => Promise<void>;
  /** The delivery of a task. */
  readonly task?: (task: CounterTask, run: () => Promise<void>, database: Database) => Promise<void>;
  /** What an instance gets: its configuration, its clock, the scheduling of tasks. */
  readonly backend?: (backend: Backend, process: Process) => Backend;
  /** A decision of the functions. */
  readonly decide?: (decide: Decide, ...args: Parameters<Decide>) => Step;
  /** A call of a client, a server or an operator, named after its action. */
  readonly call?: <T>(action: string, make: () => Promise<T>) => Promise<T>;
  /** What a user's device does wrong. */
  readonly device?:
    | "it shows what waits in the queue of another user"
    | "its cache takes older versions"
    | "it does not tell of refused writes"
    | "it shows no marks"
    | "pages are rendered without their version"
    | "its queue is told as sent after a reload"
    | "its waits do not tell of another user";
  /** The random numbers of the code under test. */
  readonly random?: (random: Random) => number;
}

export interface Mutation extends Hooks {
  /** The invariants of which it violates one. */
  readonly breaks: readonly string[];
  /** Where the mistake shows. Default: in one database. */
  readonly world?: World;
  /** The first seed that finds the mistake. Default: 1. */
  readonly seed?: number;
}

/** The hooks of the mutation that is planted. */
export let planted: Hooks = {};

/** Plants a mutation; without one, removes the last. */
export function plant(mutation: Hooks = {}): void {
  planted = mutation;
}

/** Commits writes as they are, or as the mutation edits them. */
export function commitBy(by: Committer, writes: readonly Write[], commit: Commit): Promise<unknown> {
  return planted.commit ? planted.commit(writes, commit, by) : commit(writes);
}

/** Makes a call, or what the mutation makes instead. */
export function call<T>(action: string, make: () => Promise<T>): Promise<T> {
  return planted.call ? planted.call(action, make) : make();
}
