/** Mistakes in the functions and in measuring. */
import type { aggregate, runAggregationTask } from "../../../functions/src/aggregate.ts";
import type { CounterTask } from "../../../functions/src/cause.ts";
import { readCounter } from "../../../functions/src/counterDocument.ts";
import type { historyWrites, isMinuteInHistory } from "../../../functions/src/history.ts";
import type { publishInterval } from "../../../functions/src/interval.ts";
import type { hasSilentShards, includesWrite } from "../../../functions/src/measurement.ts";
import type { nextPublished } from "../../../functions/src/nextPublished.ts";
import type { nextPhase, Phase, pollDelay } from "../../../functions/src/phase.ts";
import type { publish } from "../../../functions/src/publish.ts";
import type { createWakeHandler, hasCounted, latestDeletionTime } from "../../../functions/src/wake.ts";
import { eachWrite, inTwoCommits, setsForCreates, withoutPreconditions } from "../batchEdits.ts";
import {
  covering,
  type Decide,
  deciding,
  due,
  folding,
  isHistory,
  isMirror,
  isSame,
  type Mutation,
  publishing,
} from "./seams.ts";

type FewestShards = (...args: unknown[]) => number;

export const backendMutations: Record<string, Mutation> = {
  "publish without the guard": { ...publishing(withoutPreconditions), breaks: ["I3", "I4"] },
  "publish creates over an existing document": {
    ...publishing(setsForCreates),
    breaks: ["I3", "I4", "I9", "I10", "history"],
  },
  "an unchanged measurement is not published": {
    ...deciding((step, _, { previous }) =>
      step.do === "publish" && previous && isSame(previous, step.next) ? { do: "nothing" } : step,
    ),
    breaks: ["I2"],
    seed: 78,
  },
  "a deletion is dated by a clock that may be behind": {
    module: "functions/src/wake.ts",
    declaration: "latestDeletionTime",
    mistake: (): typeof latestDeletionTime => (_, now) => now,
    breaks: ["I2"],
    seed: 1823,
  },
  "a reservation is ignored": {
    module: "functions/src/nextPublished.ts",
    declaration: "fewestShards",
    mistake:
      (real: FewestShards): FewestShards =>
      (_reservation, ...rest) =>
        real(undefined, ...rest),
    breaks: ["I5"],
  },
  "an update of shard 0 triggers nothing": {
    module: "functions/src/wake.ts",
    declaration: "hasCounted",
    mistake: (): typeof hasCounted => () => false,
    breaks: ["I2"],
  },
  "a mirror is written after the publish": {
    ...publishing(inTwoCommits(({ path }) => !isMirror(path))),
    breaks: ["I1", "I9"],
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
  "the interval is a millisecond": {
    module: "functions/src/interval.ts",
    declaration: "publishInterval",
    mistake: (): typeof publishInterval => () => 1,
    breaks: ["I4"],
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
    breaks: ["I1", "I2", "I7", "I12"],
  },
  "a refused publish counts as done": {
    module: "functions/src/publish.ts",
    declaration: "publish",
    mistake:
      (real: typeof publish): typeof publish =>
      async (...args) =>
        (await real(...args)) ?? args[2],
    breaks: ["I2"],
  },
  "a write is covered half a second after a publish": {
    ...covering((real) => (cause, published, snapshotLag) => real(cause, published, snapshotLag - 500)),
    breaks: ["I2"],
  },
  "busy promises more than its poll": {
    ...covering(
      (real) => (cause, published, snapshotLag) =>
        real(cause, published, snapshotLag) ||
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
        const schedule = async (task: CounterTask) => void backend.schedule(task).catch(() => undefined);
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
        const tasks: CounterTask[] = [];
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
      (real) => (cause, published, snapshotLag) =>
        cause.isPoll && published.nextPollAt !== null
          ? published.nextPollAt !== cause.at
          : real(cause, published, snapshotLag),
    ),
    breaks: ["I2"],
  },
  "a counter taken for new is not read again when it is not": {
    module: "functions/src/publish.ts",
    declaration: "publish",
    mistake:
      (real: typeof publish): typeof publish =>
      async (state, ...rest) =>
        (await real(state, ...rest)) ?? (state.updateTime ? undefined : rest[1]),
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
  "a publish covers writes without the snapshot lag": {
    ...covering((real) => (cause, published) => real(cause, published, 0)),
    breaks: ["I2", "I12"],
    seed: 100,
  },
  "a measurement is trusted without finding the write": {
    module: "functions/src/measurement.ts",
    declaration: "includesWrite",
    mistake: (): typeof includesWrite => (_, shardId) => shardId !== undefined,
    breaks: ["I1", "I2"],
    seed: 535,
  },
  "fold without the precondition": { ...folding(withoutPreconditions), breaks: ["I5", "I9", "I12"] },
  "fold deletes first and adds to the base later": {
    ...folding(inTwoCommits(({ kind }) => kind === "delete")),
    breaks: ["I5", "I1", "I9"],
  },
  "fold before two minutes": {
    ...deciding((step, _cause, _known, now) => (step.do === "fold" ? { ...step, quietSince: now - 1_000 } : step)),
    breaks: ["I5"],
    seed: 759,
  },
  "a task finds no counter document and gives up": {
    module: "functions/src/aggregate.ts",
    declaration: "runAggregationTask",
    mistake:
      (real: typeof runAggregationTask): typeof runAggregationTask =>
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
      (real) => (cause, published, snapshotLag) =>
        cause.at <= published.asOf - snapshotLag || real(cause, published, snapshotLag),
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
    breaks: ["I2", "I12"],
    seed: 11_100,
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
  "a counter grows at every write": {
    ...due(
      (real) => (published, config, cause) =>
        cause ? published.asOf + config.minInterval : real(published, config, cause),
    ),
    breaks: ["I4"],
  },
};
