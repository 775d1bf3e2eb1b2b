/**
 * The functions in a firebase-tools process of their own, beside a suite: so they can be killed and started again while
 * Firestore and the task queue go on, as an outage of Cloud Functions leaves those alone.
 *
 * firebase-tools registers triggers and queues only with emulators of its own process. So the suite has the functions
 * as well; but with its events redirected (`SuiteOptions.eventsTo`), and its tasks, those are never called.
 */
import { join } from "node:path";
import { overrideWorkerAddresses, type WorkerAddresses } from "./addressOverrides.ts";
import { type Firebase, startFirebase } from "./firebase.ts";
import { createProject } from "./project.ts";

export interface SeparateFunctions {
  /** `host:port` at which they take events and tasks, when they are up. */
  readonly address: string;
  /** A file that gets what they print. */
  readonly log: string;
  /** The processes that run them now: one for each request of the moment, and idle ones. */
  instances(): number[];
  /** `kill -9` of everything at once. Nothing listens at the address any more. */
  kill(): Promise<void>;
  /** Starts them, or starts them again. Resolves when they take events. */
  start(view: Required<WorkerAddresses>): Promise<void>;
  stop(): Promise<void>;
}

/** @param params  parameters that differ from their defaults, by name */
export async function startSeparateFunctions(params: Record<string, string>): Promise<SeparateFunctions> {
  const { folder, addresses, remove } = await createProject("plain", params);
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
      firebase = await startFirebase(folder, log, overrideWorkerAddresses(process.env, view), ["functions"]);
    },
    async stop() {
      // Not in good order: it would wait a minute for requests whose workers were killed.
      await firebase?.kill();
      remove();
    },
  };
}
