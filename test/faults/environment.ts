/**
 * The Emulator Suite with a proxy for faults on every connection:
 *
 *     web clients ──cut──▶ Firestore ───events──▶ delivery ──▶ functions, in a process of their own
 *     servers ─────cut──▶     ▲                   ▲    ▲          │  │
 *                             └────────cut────────│────│──────────┘  │
 *                                                 └─ Tasks ◀─────────┘
 */

import { startEmulators } from "../../testkit/emulators/emulators.ts";
import { createProject } from "../../testkit/emulators/project.ts";
import { type SeparateFunctions, startSeparateFunctions } from "../../testkit/emulators/separateFunctions.ts";
import { slowness } from "../../testkit/slowness.ts";
import { type CuttingProxy, cuttingProxy } from "../../testkit/tcpProxy.ts";
import { type Delivery, deliverEvents, deliverTasks } from "./delivery.ts";

export interface FaultEnvironment {
  readonly functions: SeparateFunctions;
  readonly events: Delivery;
  readonly tasks: Delivery;
  /** The proxies in front of Firestore, by the side that connects. */
  readonly connections: { readonly web: CuttingProxy; readonly server: CuttingProxy; readonly functions: CuttingProxy };
  /** Starts the functions, or starts them again after `functions.kill()`. */
  startFunctions(): Promise<void>;
  stop(): Promise<void>;
}

/** Several regions: a codebase with a database for each, and what is between the functions and these databases. */
export interface RegionalEnvironment {
  readonly codebases: Readonly<Record<string, Record<string, string>>>;
  /** The address at which the functions of each database see Firestore, given the real one. */
  readonly connect: (firestore: string) => Promise<Readonly<Record<string, string>>>;
}

/**
 * Starts everything, and writes the addresses into `process.env`, where the modules of `testkit` read them when they load.
 *
 * @param params  parameters of the functions that differ from their defaults, by name
 */
export async function startFaultEnvironment(
  params: Record<string, string> = {},
  regions?: RegionalEnvironment,
): Promise<FaultEnvironment> {
  const started: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    started.push(part);
    return part;
  };
  const stop = async () => {
    for (const part of started) await part.stop();
  };
  try {
    const project = await createProject("plain", params, regions);
    const functions = await startSeparateFunctions("plain", params, regions);
    const proxy = async () => {
      const cutting = await cuttingProxy(project.addresses.firestore as string);
      keep({ stop: cutting.close });
      return cutting;
    };
    // Parts stop in this order: both deliveries before the functions that they call.
    const slow = await slowness();
    const events = keep(await deliverEvents(functions.address, slow));
    const tasks = keep(await deliverTasks(project.addresses.tasks as string, functions.address, slow));
    keep(functions);
    const connections = { web: await proxy(), server: await proxy(), functions: await proxy() };
    const firestore = (await regions?.connect(connections.functions.address)) ?? connections.functions.address;
    const startFunctions = () => functions.start({ firestore, tasks: tasks.address });
    // The functions connect only with their first event, so both start at the same time.
    const [suite, up] = await Promise.allSettled([
      startEmulators({ packaging: "plain", params, project, eventsTo: events.address }).then(keep),
      startFunctions(),
    ]);
    if (suite.status === "rejected") throw suite.reason;
    if (up.status === "rejected") throw up.reason;
    Object.assign(process.env, suite.value.env, { TALLY_FUNCTIONS_HOST: functions.address, TALLY_LOG: functions.log });
    return { functions, events, tasks, connections, startFunctions, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
