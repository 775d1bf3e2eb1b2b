/**
 * The functions in a firebase-tools process of their own, beside the other emulators: they can be killed and started again while
 * Firestore and the task queue go on, as in an outage of Cloud Functions.
 *
 * firebase-tools registers triggers and queues only with emulators of its own process, so those have the functions as well. With
 * events (`EmulatorOptions.eventsTo`) and tasks redirected, those functions are never called.
 */
import { join } from "node:path";
import { overrideWorkerAddresses, type WorkerAddresses } from "./addressOverrides.ts";
import { type Firebase, startFirebase } from "./firebase.ts";
import { createProject, type Packaging, type ProjectOptions } from "./project.ts";
import { emulatorEnvironment } from "./requirements.ts";

export interface SeparateFunctions {
  /** `host:port` at which they take events and tasks while they run. */
  readonly address: string;
  /** The file of their output. */
  readonly log: string;
  /** Their processes now: one for each concurrent request, and idle ones. */
  instances(): number[];
  /** `kill -9` of all processes at once. Nothing listens at the address afterwards. */
  kill(): Promise<void>;
  /** Starts them, also again after a kill. Resolves when they take events. */
  start(view: Required<WorkerAddresses>): Promise<void>;
  stop(): Promise<void>;
}

/** @param params  parameters that differ from their defaults, by name */
export async function startSeparateFunctions(
  packaging: Packaging,
  params: Record<string, string>,
  options?: ProjectOptions,
): Promise<SeparateFunctions> {
  const { folder, addresses, remove } = await createProject(packaging, params, options);
  // An extension is loaded only beside emulators of all that triggers it. Its workers see others.
  const only = ["functions", ...(packaging.startsWith("extension") ? ["extensions", "firestore", "pubsub"] : [])];
  const environment = emulatorEnvironment(folder);
  const log = join(folder, "functions.log");
  let firebase: Firebase | undefined;
  return {
    address: addresses.functions as string,
    log,
    instances: () => firebase?.children() ?? [],
    async kill() {
      await firebase?.kill();
    },
    async start(view) {
      firebase = await startFirebase(folder, log, overrideWorkerAddresses(environment, view), only);
    },
    async stop() {
      // A regular stop would wait a minute for requests whose workers were killed.
      await firebase?.kill();
      remove();
    },
  };
}
