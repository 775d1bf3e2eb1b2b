/** Mistakes by which a write is never counted, or counted late: in events, polls and tasks. */
import { toMillis } from "../../../functions/src/counter/time.ts";
import { microsOf, Timestamp } from "../model/values.ts";
import {
  covering,
  deciding,
  knowing,
  knowingPrevious,
  publishing,
  publishingNext,
  scheduling,
  sleep,
  those,
} from "./edits.ts";
import type { Mutation } from "./mutation.ts";

/** The counters of which an instance handles an event. */
const busy = new WeakMap<object, Set<string>>();

/** The functions that updates of shards trigger. */
const UPDATES = ["shardzeroupdated", "baseupdated", "shardupdated"];

export const wakeUpMutations: Record<string, Mutation> = {
  "an update of shard 0 triggers nothing": {
    event: async (event, handle, { name }) => (UPDATES.includes(name) ? undefined : await handle(event)),
    breaks: ["I2"],
  },
  "a deletion is dated by a clock that may be behind": {
    event: (event, handle) => handle(event.after ? event : { ...event, time: "1970-01-01T00:00:00.000Z" }),
    breaks: ["I2"],
    seed: 1316,
  },
  "wake drops what comes while it is busy": {
    event: async (event, handle, { name, backend, change }) => {
      if (!["shardcreated", ...UPDATES].includes(name)) return await handle(event);
      const [, counter = ""] = change.after.path.split("/");
      const handled = busy.get(backend) ?? new Set();
      busy.set(backend, handled);
      if (handled.has(counter)) return;
      handled.add(counter);
      await handle(event).finally(() => handled.delete(counter));
    },
    breaks: ["I2"],
  },
  "a write is covered half a second after a publish": {
    ...covering(({ at, isPoll }, { asOf, nextPollAt }, snapshotLag) => {
      return !(isPoll && nextPollAt !== null) && at <= asOf - snapshotLag + 500;
    }),
    breaks: ["I2"],
    seed: 30,
  },
  "busy promises more than its poll": {
    // The instance remembers what it has decided.
    ...deciding((step) =>
      step.do === "publish" && step.next.phase === "busy" && step.next.nextPollAt !== null
        ? { ...step, next: { ...step.next, nextPollAt: step.next.nextPollAt + 10_000 } }
        : step,
    ),
    ...publishing(
      those(
        ({ data }) => data?.phase === "busy" && data.nextPollAt instanceof Timestamp,
        ({ data, ...write }) => {
          const nextPollAt = Timestamp.fromMicros(microsOf(data?.nextPollAt) - 10_000_000);
          return { ...write, data: { ...data, nextPollAt } };
        },
      ),
    ),
    breaks: ["I2"],
    seed: 103,
  },
  "a poll gives way to an earlier one": {
    ...covering(({ at, isPoll }, { nextPollAt }) => isPoll && nextPollAt !== null && nextPollAt !== at),
    breaks: ["I2"],
    seed: 3,
  },
  "a poll that finds nothing new is the last": {
    ...deciding((step, { isPoll }, { previous }) =>
      step.do === "publish" && isPoll && step.next.writes === previous?.writes ? { do: "nothing" } : step,
    ),
    breaks: ["I2", "I7"],
  },
  "an early aggregation is not put off": {
    ...deciding((step, { isPoll }) =>
      step.do === "schedule" && (step.task.kind === "poll") === isPoll ? { do: "nothing" } : step,
    ),
    breaks: ["I2"],
    seed: 8,
  },
  "a publish need not include its cause": {
    decide: (decide, cause, known, ...others) => {
      const asOf = known.measurement ? toMillis(known.measurement.asOf) - 1_000 : Number.POSITIVE_INFINITY;
      return decide({ ...cause, at: Math.min(cause.at, asOf) }, known, ...others);
    },
    breaks: ["I1", "I2"],
  },
  "a counter with silent shards is not polled": {
    ...publishingNext((next) => (next.phase === "busy" ? next : { ...next, phase: "idle", nextPollAt: null })),
    breaks: ["I2"],
  },
  "shards that were summed and not listed pass for none that are silent": {
    ...knowing(({ measurement, ...known }) => ({
      ...known,
      measurement: measurement && { ...measurement, shards: measurement.shards ?? [] },
    })),
    breaks: ["I2"],
    seed: 16,
  },
  "a quiet phase does not schedule its poll": {
    ...deciding((step) =>
      step.do === "publish" && step.next.phase === "quiet"
        ? { ...step, tasks: step.tasks.filter(({ kind }) => kind !== "poll") }
        : step,
    ),
    breaks: ["I2"],
  },
  "a quiet counter forgets for how long": {
    ...knowingPrevious((previous) =>
      ["quiet", "shrunk", "cooling"].includes(previous.phase) ? { ...previous, calmSince: null } : previous,
    ),
    breaks: ["I7"],
    seed: 15,
  },
  "the cool-down before a fold begins again with each measurement": {
    ...knowing(({ previous, measurement, ...known }) => ({
      ...known,
      measurement,
      previous: previous && measurement ? { ...previous, unusedSince: toMillis(measurement.asOf) } : previous,
    })),
    breaks: ["I7"],
  },
  "a quiet counter with many shards is polled as rarely as one with few": {
    ...publishingNext((next) =>
      next.phase === "quiet" && next.shardCount > 1 ? { ...next, nextPollAt: Math.ceil(next.asOf) + 60_000 } : next,
    ),
    breaks: ["I2"],
    seed: 70,
  },
  "a poll is for another instant than the document says": {
    ...publishingNext((next) => ({
      ...next,
      nextPollAt: next.nextPollAt === null ? null : next.nextPollAt - 0.314_159_2,
    })),
    breaks: ["I2"],
  },
  "schedule after the publish": {
    ...scheduling(
      async (task, schedule) =>
        void sleep(2_000)
          .then(() => schedule(task))
          .catch(() => undefined),
    ),
    breaks: ["I2"],
    seed: 84,
  },
  "a scheduled measurement is remembered as a second later": {
    ...scheduling((task, schedule) => schedule(task.kind === "poll" ? task : { ...task, due: task.due - 1_000 })),
    breaks: ["I2"],
    seed: 17,
  },
  "a task finds no counter document and gives up": {
    task: async ({ counterId }, run, database) =>
      database.get(`counters/${counterId}`).fields?.asOf ? await run() : undefined,
    breaks: ["I2"],
    seed: 16,
  },
  "every counter is swept for ever": {
    query: (plan, find) => {
      const filters = plan.filters.map((one) =>
        one.field === "phase" ? { ...one, value: [...(one.value as string[]), "idle"] } : one,
      );
      return find({ ...plan, filters });
    },
    breaks: ["I7"],
  },
};
