/**
 * The faults and when they strike. The times are random and no seed repeats a run, since the operating system decides the
 * schedule. Randomness lets faults strike at every moment sooner or later.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type DeliveryFaults, type InjectedDeliveryFaults, NO_FAULTS } from "./delivery.ts";
import type { FaultEnvironment } from "./environment.ts";

/** How many faults of each kind were injected. */
export type FaultCounts = Record<string, number>;

/** Injects faults until `workloadEnd` resolves, and then restores normal operation. */
export type Fault = (environment: FaultEnvironment, workloadEnd: Promise<void>) => Promise<FaultCounts>;

/**
 * How long a new instance is not killed. The emulator never answers a request whose instance dies while it starts
 * (`TIMEOUT_MS` in delivery.ts), so without this pause a run would mostly wait for such requests.
 */
const STARTUP_MS = 2_000;

/**
 * Kills random instances of the functions, busy or idle, with `kill -9`, if something was handled since the last kill. A slow machine may
 * take longer than `STARTUP_MS` to start an instance. Without this condition none would live long enough to handle anything.
 */
export const killInstances: Fault = async (environment, workloadEnd) => {
  const { functions, events, tasks } = environment;
  const handled = () => events.handled() + tasks.handled();
  let handledBefore = -1;
  const firstSeenAt = new Map<number, number>();
  let kills = 0;
  const injected = () => ({ "instances killed": kills });
  await repeatUntil(workloadEnd, environment, injected, async () => {
    await sleep(randomBetween(50, 400));
    const now = performance.now();
    const started = functions.instances().filter((pid) => {
      if (!firstSeenAt.has(pid)) firstSeenAt.set(pid, now);
      return now - (firstSeenAt.get(pid) as number) > STARTUP_MS;
    });
    if (handled() === handledBefore) return;
    const victim = started[Math.floor(Math.random() * started.length)];
    if (victim === undefined) return;
    try {
      process.kill(victim, "SIGKILL");
      kills++;
      handledBefore = handled();
    } catch {
      // The instance has ended meanwhile.
    }
  });
  return injected();
};

/** Kills the functions emulator with all its instances, and starts it again after a pause, several times. */
export const outages: Fault = async (environment, workloadEnd) => {
  const { functions, startFunctions } = environment;
  let count = 0;
  const injected = () => ({ outages: count });
  await repeatUntil(workloadEnd, environment, injected, async () => {
    await sleep(randomBetween(3_000, 4_000));
    await functions.kill();
    count++;
    await sleep(randomBetween(500, 2_000));
    await startFunctions();
  });
  return injected();
};

/** Cuts connections to Firestore between commit and acknowledgement: those of web clients, servers and functions. */
export const cutConnections: Fault = async (environment, workloadEnd) => {
  const cuts = Object.entries(environment.connections).map(async ([owner, proxy]) => {
    let count = 0;
    const injected = () => ({ [`connections of ${owner} cut`]: count });
    await repeatUntil(workloadEnd, environment, injected, async () => {
      await sleep(randomBetween(50, 500));
      proxy.withhold();
      // Firestore commits what arrives in this time, and the sender gets no answer.
      await sleep(randomBetween(10, 100));
      count += proxy.cut();
    });
    return injected();
  });
  return Object.assign({}, ...(await Promise.all(cuts)));
};

const DELIVERY_FAULTS: DeliveryFaults = {
  lost: 0.2,
  answerLost: 0.1,
  duplicated: 0.2,
  enqueueFailed: 0.5,
  maxDelayMs: 2_000,
};

/** Loses, repeats, delays and reorders events and tasks, and fails calls that schedule a task. */
export const disturbDelivery: Fault = async (environment, workloadEnd) => {
  const { events, tasks } = environment;
  const before = { events: { ...events.injected }, tasks: { ...tasks.injected } };
  const since = (what: "events" | "tasks", kind: keyof InjectedDeliveryFaults) =>
    ({ events, tasks })[what].injected[kind] - before[what][kind];
  const injected = () => ({
    "events lost": since("events", "lost"),
    "events duplicated": since("events", "duplicated"),
    "events handled but not acknowledged": since("events", "answersLost"),
    "tasks lost": since("tasks", "lost"),
    "tasks duplicated": since("tasks", "duplicated"),
    "tasks handled but not acknowledged": since("tasks", "answersLost"),
    "calls that schedule a task failed": since("tasks", "enqueueFailed"),
  });
  events.faults = DELIVERY_FAULTS;
  tasks.faults = DELIVERY_FAULTS;
  await repeatUntil(workloadEnd, environment, injected, () => sleep(100));
  events.faults = NO_FAULTS;
  tasks.faults = NO_FAULTS;
  return injected();
};

/** Injects several faults at the same time. */
export function combineFaults(...faults: readonly Fault[]): Fault {
  return async (environment, workloadEnd) =>
    Object.assign({}, ...(await Promise.all(faults.map((fault) => fault(environment, workloadEnd)))));
}

/**
 * Repeats an action until the workload ends. On a slow machine the functions start late and most events are delivered
 * after that, so the action is repeated while events are pending and a kind of fault has not struck yet.
 */
async function repeatUntil(
  workloadEnd: Promise<void>,
  { events }: FaultEnvironment,
  injected: () => FaultCounts,
  act: () => Promise<void>,
): Promise<void> {
  let hasEnded = false;
  void workloadEnd.then(() => {
    hasEnded = true;
  });
  while (!hasEnded || (events.pending() > 0 && Object.values(injected()).includes(0))) await act();
}

function randomBetween(from: number, to: number): number {
  return from + Math.random() * (to - from);
}
