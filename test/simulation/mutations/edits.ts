/** What mutations have in common: which commits, tasks and decisions they change, and how. */
import type { CounterTask, Schedule, ScheduledTask } from "../../../functions/src/counter/cause.ts";
import type { CounterConfig } from "../../../functions/src/counter/types.ts";
import type { Decide, Step } from "../decide.ts";
import { Code, type Data, Refused, type Write } from "../model/database.ts";
import type { Edit, Hooks } from "./mutation.ts";

/** Edits the commits of the processes whose name begins so, if they have a write that is meant. */
export const committing = (process: string, isMeant: (write: Write) => boolean, edit: Edit): Hooks => ({
  commit: (writes, commit, by) =>
    by.process.name.startsWith(process) && writes.some(isMeant) ? edit(writes, commit, by) : commit(writes),
});

const isCounter = (path: string) => /^counters\/[^/]+$/.test(path);
const isShard = (path: string) => /^counters\/[^/]+\/shards\//.test(path);
export const isMirror = (path: string) => !path.startsWith("counters/");
export const isHistory = (path: string) => path.includes("/tallyHistory/");
export const isDeletion = ({ kind }: Write) => kind === "delete";

/** Edits publishes: the commits of instances that write the total of a counter. */
export const publishing = (edit: Edit) =>
  committing("instance", ({ path, data = {} }) => isCounter(path) && "total" in data, edit);

/** Edits folds: the commits of instances that delete shards. */
export const folding = (edit: Edit) =>
  committing("instance", (write) => isDeletion(write) && isShard(write.path), edit);

/** Changes each write. */
export const eachWrite =
  (change: (write: Write) => Write): Edit =>
  (writes, commit) =>
    commit(writes.map(change));

/** Leaves writes out. */
export const without =
  (isLeftOut: (write: Write) => boolean): Edit =>
  (writes, commit) =>
    commit(writes.filter((write) => !isLeftOut(write)));

/** Splits the commit in two. */
export const inTwoCommits =
  (isFirst: (write: Write) => boolean): Edit =>
  async (writes, commit) => {
    const result = await commit(writes.filter(isFirst));
    const rest = writes.filter((write) => !isFirst(write));
    if (rest.length > 0) await commit(rest);
    return result;
  };

/** Takes a commit for done whose precondition has failed. */
export const refusedIsDone: Edit = (writes, commit) =>
  commit(writes).catch((error) => {
    const codes: number[] = [Code.FAILED_PRECONDITION, Code.ALREADY_EXISTS, Code.NOT_FOUND];
    if (error instanceof Refused && codes.includes(error.code)) return writes.map(() => Date.now() * 1_000);
    throw error;
  });

export const withoutPrecondition = (write: Write): Write => ({ ...write, lastUpdateTime: undefined });
const setForCreate = (write: Write): Write => (write.kind === "create" ? { ...write, kind: "set" } : write);
export const withoutPreconditions = eachWrite(withoutPrecondition);
export const setsForCreates = eachWrite(setForCreate);
export const unconditionally = eachWrite((write) => setForCreate(withoutPrecondition(write)));

/** Changes a write if it is meant. */
export const those = (isMeant: (write: Write) => boolean, change: (write: Write) => Write) =>
  eachWrite((write) => (isMeant(write) ? change(write) : write));

/** Leaves a field out of each write. */
export const withoutField = (field: string) =>
  eachWrite((write) => {
    const { [field]: left, ...data } = write.data ?? {};
    return left === undefined ? write : { ...write, data: data as Data };
  });

/** Waits in the time of the simulation. */
export const sleep = (millis: number) => new Promise<void>((resolve) => void setTimeout(resolve, millis));

/** Commits up to eight seconds late, in another order than others. */
export const late =
  (edit: Edit = (writes, commit) => commit(writes)): Edit =>
  async (writes, commit, by) => {
    await sleep(Math.random() * 8_000);
    return await edit(writes, commit, by);
  };

type Cause = Parameters<Decide>[0];
type Known = Parameters<Decide>[1];
export type Publish = Extract<Step, { readonly do: "publish" }>;

/** Changes a decision. */
export const deciding = (change: (step: Step, ...args: Parameters<Decide>) => Step): Hooks => ({
  decide: (decide, ...args) => change(decide(...args), ...args),
});

/** Changes what is decided to be published. */
export const publishingNext = (change: (next: Publish["next"], known: Known, cause: Cause) => Publish["next"]) =>
  deciding((step, cause, known) => {
    if (step.do !== "publish") return step;
    const next = change(step.next, known, cause);
    const polls: ScheduledTask[] = next.nextPollAt === null ? [] : [{ due: next.nextPollAt, kind: "poll" }];
    return { ...step, next, tasks: [...polls, ...step.tasks.filter(({ kind }) => kind !== "poll")] };
  });

/** Changes what a decision is made from. */
export const knowing = (change: (known: Known, cause: Cause) => Known): Hooks => ({
  decide: (decide, cause, known, ...rest) => decide(cause, change(known, cause), ...rest),
});

/** Changes what the last publish says, as far as decisions depend on it. */
export const knowingPrevious = (change: (previous: Publish["next"], cause: Cause) => Publish["next"]) =>
  knowing((known, cause) => ({ ...known, previous: known.previous && change(known.previous, cause) }));

/** Takes causes for counted. */
export const covering = (
  isCovered: (cause: Cause, previous: Publish["next"], snapshotLag: number) => boolean | undefined,
): Hooks => ({
  decide: (decide, cause, known, now, snapshotLag, config) =>
    known.previous && isCovered(cause, known.previous, snapshotLag)
      ? { do: "nothing" }
      : decide(cause, known, now, snapshotLag, config),
});

/** Changes how instances schedule tasks. */
export const scheduling = (schedule: (task: CounterTask, schedule: Schedule) => Promise<void>): Hooks => ({
  backend: (backend) => ({ ...backend, schedule: (task) => schedule(task, backend.schedule) }),
});

/** Leaves out tasks. */
export const notScheduling = (isLeftOut: (task: CounterTask) => boolean) =>
  scheduling(async (task, schedule) => (isLeftOut(task) ? undefined : await schedule(task)));

/** Changes the configuration of the functions. */
export const configuring = (change: (config: CounterConfig) => Partial<CounterConfig>): Hooks => ({
  backend: (backend) => ({ ...backend, config: { ...backend.config, ...change(backend.config) } }),
});
