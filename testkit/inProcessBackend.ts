/**
 * The functions' code in the process of a test, against the emulator, without a deployment: the test delivers, drops and repeats
 * events, runs tasks, and lets instances crash.
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Firestore } from "firebase-admin/firestore";
import type { Backend } from "../functions/src/backend.ts";
import type { CounterTask, WriteEvent } from "../functions/src/cause.ts";
import { runTask } from "../functions/src/runTask.ts";
import { createWakeHandler } from "../functions/src/wake.ts";
import { admin } from "./clients.ts";

/** The emulator's snapshots may miss commits of the last few milliseconds (see backend.ts). */
export const SNAPSHOT_LAG = 50;

let created = 0;
/** A new collection of counters, which triggers no deployed function. */
const newCollection = () => `backend${process.pid}x${created++}`;

interface InProcessBackend {
  readonly backend: Backend;
  /** Scheduled and not yet run. */
  readonly tasks: CounterTask[];
}

/** A backend whose scheduled tasks wait in `tasks` until the test runs them. */
export function inProcessBackend(
  changes: Partial<Backend["config"]> = {},
  firestore: Firestore = admin,
): InProcessBackend {
  const { collection = newCollection() } = changes;
  const tasks: CounterTask[] = [];
  const names = new Set<string>();
  const backend: Backend = {
    firestore,
    counters: firestore.collection(collection),
    config: {
      collection,
      minShards: 1,
      maxShards: 1_000,
      writesPerShard: 1,
      shrinkCooldown: 1_000,
      minInterval: 200,
      maxInterval: 1_000,
      precision: 0.001,
      counted: undefined,
      mirrors: [],
      historyRetention: 0,
      timeZone: "UTC",
      regions: undefined,
      exchangeInterval: 1_000,
      ...changes,
    },
    otherRegions: new Map(),
    snapshotLag: SNAPSHOT_LAG,
    now: Date.now,
    sleep: (duration) => (duration > 0 ? sleep(duration) : Promise.resolve()),
    // As in Cloud Tasks, a name can be used once, whether or not its task has run.
    schedule: async (task) => {
      const name = JSON.stringify(task);
      if (names.has(name)) return;
      names.add(name);
      tasks.push(task);
    },
  };
  return { backend, tasks };
}

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), choice: fc.nat(99) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("deliver" as const), pick: fc.nat(99), instance: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("repeat" as const), pick: fc.nat(99), instance: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const), pick: fc.nat(99), after: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("task" as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Histories of a counter: writes, whose events are delivered late, out of order and repeatedly; tasks; crashes. */
export const eventHistories = fc.array(action, { minLength: 10, maxLength: 40 });

/**
 * Plays a history of one counter. At its end every pending event and task is delivered, so each arrives at least once.
 *
 * @param write  writes something that depends on a random number, and returns the events that Firestore would send for it
 */
export async function playHistory(
  history: readonly Action[],
  { backend, tasks }: InProcessBackend,
  write: (choice: number) => Promise<readonly WriteEvent[]>,
): Promise<void> {
  const instances = Array.from({ length: 3 }, () => createWakeHandler(backend));
  const undelivered: WriteEvent[] = [];
  const delivered: WriteEvent[] = [];
  const take = <T>(from: T[], pick: number) => from.splice(pick % from.length, 1)[0] as T;

  for (const step of history) {
    if (step.do === "write") {
      undelivered.push(...(await write(step.choice)));
    } else if (step.do === "deliver" && undelivered.length > 0) {
      const event = take(undelivered, step.pick);
      await instances[step.instance]?.(event);
      delivered.push(event);
    } else if (step.do === "repeat" && delivered.length > 0) {
      await instances[step.instance]?.(delivered[step.pick % delivered.length] as WriteEvent);
    } else if (step.do === "die" && undelivered.length > 0) {
      // Dies at some await: the event stays undelivered, as Firestore would see it, and comes again later.
      await createWakeHandler(crashingAfter(backend, step.after))(
        undelivered[step.pick % undelivered.length] as WriteEvent,
      ).catch(() => undefined);
    } else if (step.do === "task" && tasks.length > 0) {
      const task = take(tasks, step.pick);
      // At least once: a task may crash and run again, or run twice.
      await runTask(crashingAfter(backend, step.pick % 4), task).catch(() => undefined);
      await runTask(backend, task);
    } else if (step.do === "wait") {
      await sleep(150);
    }
  }
  for (const event of undelivered) await instances[0]?.(event);
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
}

/** A backend whose instance crashes after some calls of the clock or the queue. */
function crashingAfter(backend: Backend, calls: number): Backend {
  let left = calls;
  const live = () => {
    if (left-- <= 0) throw new Error("died");
  };
  const schedule: Backend["schedule"] = async (task) => {
    live();
    await backend.schedule(task);
    live();
  };
  const now = () => {
    live();
    return backend.now();
  };
  return { ...backend, schedule, now };
}
