/** Networks of the model. */
import { Faults } from "../faults.ts";
import { Process, Scheduler } from "../scheduler.ts";
import { Database } from "./database.ts";
import { Connection, type Network } from "./network.ts";
import type { Micros } from "./values.ts";

/** @param overrides  parts that differ from a network of its own time, without faults, that observes nothing */
export function createNetwork(overrides: Partial<Network> = {}): Network {
  const ignore = () => {};
  return {
    scheduler: new Scheduler(1e15),
    database: new Database(),
    faults: new Faults([], 0, 0),
    snapshotLag: 0,
    index: "ready",
    listeners: new Set(),
    onCommit: ignore,
    onRead: ignore,
    onTransaction: ignore,
    log: ignore,
    ...overrides,
  };
}

/** A connection of a new process. */
export function connect(network: Network, name: string, seed = 1): Connection {
  return new Connection(network, new Process(name, seed));
}

/** Runs the simulation until a call has returned. @param limit  how long the call may take */
export async function complete<T>({ scheduler }: Network, call: Promise<T>, limit: Micros): Promise<T> {
  call.catch(() => undefined);
  // An event at once lets a call begin that has not scheduled any.
  scheduler.after(0, () => {});
  await scheduler.runUntil(scheduler.now + limit);
  return await call;
}
