/**
 * Starts the Emulator Suite with Tally loaded in one of its packagings, on free ports, in a folder of its own. Several can run
 * side by side, and nothing is left behind.
 */
import { join } from "node:path";
import { overrideEventTarget, overrideWorkerAddresses } from "./addressOverrides.ts";
import { PROJECT, startFirebase } from "./firebase.ts";
import { hostFunctions } from "./hostedFunctions.ts";
import { logOfHost } from "./hosts.ts";
import { createProject, type Packaging, type Project } from "./project.ts";
import { emulatorEnvironment } from "./requirements.ts";

export interface EmulatorOptions {
  packaging: Packaging;
  /** Only for the packaging `hosted`: how many processes host the functions, each for a project of its own. Default: 1. */
  hosts?: number;
  /** Parameters of the functions that differ from their defaults, by name. */
  params: Record<string, string>;
  /** Returns the `host:port` at which the functions see Firestore, such as a proxy's, given the real one. */
  functionsFirestore?: (firestore: string) => Promise<string>;
  /** `host:port` to which Firestore sends its events. The emulators' own functions then run neither for events nor by schedule. */
  eventsTo?: string;
  /** Interrupts the start and stops what has been started. */
  signal?: AbortSignal;
  /** The project to run, if the caller needs its addresses beforehand; otherwise one is created. */
  project?: Project;
}

export interface Emulators {
  /** Where each emulator listens, `host:port` by name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The variables by which commands find the emulators: `FIRESTORE_EMULATOR_HOST`, `GCLOUD_PROJECT` and so on. */
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

const EMULATORS = ["auth", "firestore", "hosting"];

/** @throws MissingRequirement, the reason of an abort, or an `Error` that ends with what firebase-tools printed */
export async function startEmulators(options: EmulatorOptions): Promise<Emulators> {
  const { packaging, params, functionsFirestore } = options;
  const { folder, addresses, remove } = options.project ?? (await createProject(packaging, params));
  const isHosted = packaging === "hosted";
  const eventsTo = options.eventsTo ?? (isHosted ? addresses.functions : undefined);
  try {
    let environment = emulatorEnvironment(folder);
    if (functionsFirestore) {
      const firestore = await functionsFirestore(addresses.firestore as string);
      environment = overrideWorkerAddresses(environment, { firestore });
    }
    if (eventsTo) environment = overrideEventTarget(environment, eventsTo);
    const log = join(folder, "emulators.log");
    // An extension is loaded only beside emulators of all that triggers it.
    const isExtension = packaging.startsWith("extension");
    const only = [
      ...EMULATORS,
      ...(isHosted ? [] : ["functions", "tasks"]),
      ...(isExtension ? ["extensions"] : []),
      ...(isExtension || !eventsTo ? ["pubsub"] : []),
    ];
    const firebase = await startFirebase(folder, log, environment, only, options.signal);
    const env = {
      GCLOUD_PROJECT: PROJECT,
      FIRESTORE_EMULATOR_HOST: addresses.firestore as string,
      FIREBASE_AUTH_EMULATOR_HOST: addresses.auth as string,
      PUBSUB_EMULATOR_HOST: addresses.pubsub as string,
      CLOUD_TASKS_EMULATOR_HOST: addresses.tasks as string,
      FIREBASE_EMULATOR_HUB: addresses.hub as string,
      TALLY_FUNCTIONS_HOST: addresses.functions as string,
      TALLY_HOSTING_HOST: addresses.hosting as string,
      TALLY_PACKAGING: packaging,
      TALLY_LOG: isHosted ? logOfHost(folder, PROJECT) : log,
      // Otherwise the Admin SDK looks for credentials over the network for a second, and warns.
      METADATA_SERVER_DETECTION: "none",
    };
    const hosted = isHosted ? await hostFunctions(options.hosts ?? 1, params, env, folder) : undefined;
    return {
      addresses,
      env: { ...env, ...(hosted && { TALLY_FUNCTIONS_PIDS: hosted.pids.join() }) },
      stop: () => Promise.all([firebase.stop(), hosted?.stop()]).then(remove, remove),
    };
  } catch (error) {
    remove();
    throw error;
  }
}
