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
export const killInstances: Fault = async ({ functions }, over) => {
  const seen = new Map<number, number>();
  let kills = 0;
  await repeatedly(over, async () => {
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
  return { "instances killed": kills };
};

/** The functions and all their instances go down at one stroke, stay down, and come back: again and again. */
export const outages: Fault = async ({ functions, startFunctions }, over) => {
  let count = 0;
  await repeatedly(over, async () => {
    await sleep(between(3_000, 4_000));
    await functions.kill();
    count++;
    await sleep(between(500, 2_000));
    await startFunctions();
  });
  return { outages: count };
};

/** Cuts the connections of web clients, servers and functions, so that what was committed is not acknowledged. */
export const cutConnections: Fault = async ({ connections }, over) => {
  const injected: Injected = {};
  await Promise.all(
    Object.entries(connections).map(([whose, proxy]) =>
      repeatedly(over, async () => {
        await sleep(between(50, 500));
        proxy.withhold();
        // Whatever arrives at Firestore in this time is done, and its sender does not hear of it.
        await sleep(between(10, 100));
        const kind = `connections of ${whose} cut`;
        injected[kind] = (injected[kind] ?? 0) + proxy.cut();
      }),
    ),
  );
  return injected;
};

const TROUBLE: Trouble = { lost: 0.2, answerLost: 0.1, twice: 0.2, unqueued: 0.5, delayMs: 2_000 };

/**
 * Loses, repeats, delays and reorders events and tasks, and fails calls that schedule one. On a slow machine most events
 * are delivered when the increments are over, so it goes on until there was trouble of each kind.
 */
export const disturbDelivery: Fault = async ({ events, tasks }, over) => {
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
  await over;
  while (events.pending() > 0 && Object.values(injected()).includes(0)) await sleep(100);
  events.trouble = NO_TROUBLE;
  tasks.trouble = NO_TROUBLE;
  return injected();
};

/** Several at the same time. */
export function together(...faults: readonly Fault[]): Fault {
  return async (rig, over) => Object.assign({}, ...(await Promise.all(faults.map((fault) => fault(rig, over)))));
}

async function repeatedly(over: Promise<void>, act: () => Promise<void>): Promise<void> {
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  while (!isOver) await act();
}

function between(from: number, to: number): number {
  return from + Math.random() * (to - from);
}
