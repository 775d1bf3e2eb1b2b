/**
 * What breaks, and when. Chance decides, and no seed would bring the same schedule back: it is the operating system's.
 * What is random only makes sure that each moment is hit sooner or later.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Incidents, NO_TROUBLE, type Trouble } from "./delivery.ts";
import type { Rig } from "./rig.ts";

/** Faults injected, by kind. */
export type Injected = Record<string, number>;

/** Makes trouble until `over`, then puts everything in order again. */
export type Fault = (rig: Rig, over: Promise<void>) => Promise<Injected>;

/**
 * How long an instance is spared. Requests for which one is being started wait for that very one in the emulator, and get
 * no answer at all when it dies (`DEADLINE_MS`): a trial would be little more than such waits.
 */
const STARTING_MS = 2_000;

/** `kill -9` of random instances of the functions, busy or idle. */
export const killInstances: Fault = async (rig, over) => {
  const { functions } = rig;
  const seen = new Map<number, number>();
  let kills = 0;
  const injected = () => ({ "instances killed": kills });
  await repeatedly(rig, over, injected, async () => {
    await sleep(between(50, 400));
    const now = performance.now();
    const started = functions.instances().filter((pid) => {
      if (!seen.has(pid)) seen.set(pid, now);
      return now - (seen.get(pid) as number) > STARTING_MS;
    });
    const victim = started[Math.floor(Math.random() * started.length)];
    if (victim === undefined) return;
    try {
      process.kill(victim, "SIGKILL");
      kills++;
    } catch {
      // It has ended meanwhile.
    }
  });
  return injected();
};

/** The functions and all their instances go down at one stroke, stay down, and come back: again and again. */
export const outages: Fault = async (rig, over) => {
  const { functions, startFunctions } = rig;
  let count = 0;
  const injected = () => ({ outages: count });
  await repeatedly(rig, over, injected, async () => {
    await sleep(between(3_000, 4_000));
    await functions.kill();
    count++;
    await sleep(between(500, 2_000));
    await startFunctions();
  });
  return injected();
};

/** Cuts the connections of web clients, servers and functions, so that what was committed is not acknowledged. */
export const cutConnections: Fault = async (rig, over) => {
  const cuts = Object.entries(rig.connections).map(async ([whose, proxy]) => {
    let count = 0;
    const injected = () => ({ [`connections of ${whose} cut`]: count });
    await repeatedly(rig, over, injected, async () => {
      await sleep(between(50, 500));
      proxy.withhold();
      // Whatever arrives at Firestore in this time is done, and its sender does not hear of it.
      await sleep(between(10, 100));
      count += proxy.cut();
    });
    return injected();
  });
  return Object.assign({}, ...(await Promise.all(cuts)));
};

const TROUBLE: Trouble = { lost: 0.2, answerLost: 0.1, twice: 0.2, unqueued: 0.5, delayMs: 2_000 };

/** Loses, repeats, delays and reorders events and tasks, and fails calls that schedule one. */
export const disturbDelivery: Fault = async (rig, over) => {
  const { events, tasks } = rig;
  const before = { events: { ...events.incidents }, tasks: { ...tasks.incidents } };
  const since = (what: "events" | "tasks", kind: keyof Incidents) =>
    ({ events, tasks })[what].incidents[kind] - before[what][kind];
  const injected = () => ({
    "events lost": since("events", "lost"),
    "events doubled": since("events", "doubled"),
    "events handled but not acknowledged": since("events", "answersLost"),
    "tasks lost": since("tasks", "lost"),
    "tasks doubled": since("tasks", "doubled"),
    "tasks handled but not acknowledged": since("tasks", "answersLost"),
    "calls that schedule a task failed": since("tasks", "unqueued"),
  });
  events.trouble = TROUBLE;
  tasks.trouble = TROUBLE;
  await repeatedly(rig, over, injected, () => sleep(100));
  events.trouble = NO_TROUBLE;
  tasks.trouble = NO_TROUBLE;
  return injected();
};

/** Several at the same time. */
export function together(...faults: readonly Fault[]): Fault {
  return async (rig, over) => Object.assign({}, ...(await Promise.all(faults.map((fault) => fault(rig, over)))));
}

/**
 * Acts until `over`. On a slow machine functions start late, and most events are delivered when the increments are over;
 * so it goes on, while there are any, until there was a fault of each kind.
 */
async function repeatedly(
  { events }: Rig,
  over: Promise<void>,
  injected: () => Injected,
  act: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  while (!isOver || (events.pending() > 0 && Object.values(injected()).includes(0))) await act();
}

function between(from: number, to: number): number {
  return from + Math.random() * (to - from);
}
