/**
 * Requests one sweep after the emulator has loaded the functions. The emulator runs no schedule, and imported data lacks its scheduled tasks.
 * So a counter whose poll is among these would stay stale until its next write.
 *
 * A process of the functions starts only with the first request. Discovery runs before, and must end before the functions exist. So it
 * hands the request to the tasks emulator, which repeats it until the function exists. Discovery is recognized by `FUNCTIONS_CONTROL_API`
 * (lib/deploy/functions/runtimes/node of firebase-tools), which no instance in production has.
 */
import { GROUP, packaging } from "./packaging.ts";
import { COUNTING_DEFAULTS } from "./parameters.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether this process is the discovery of an emulator that has what a sweep needs. */
export function isEmulatorDiscovery(environment: Environment): boolean {
  const { FUNCTIONS_CONTROL_API, FUNCTIONS_EMULATOR, ...others } = environment;
  const needed = [others.FIRESTORE_EMULATOR_HOST, others.CLOUD_TASKS_EMULATOR_HOST, others.FIREBASE_EMULATOR_HUB];
  return [FUNCTIONS_CONTROL_API, FUNCTIONS_EMULATOR, ...needed].every(Boolean);
}

/** About a minute of attempts, one a second, until the functions have loaded. */
const RETRIES = { maxAttempts: 60, minBackoffSeconds: 1, maxBackoffSeconds: 1 };

/** Never rejects: without the sweep, the next write to a counter brings it up to date. */
export async function sweepAfterLoading(environment: Environment): Promise<void> {
  const { CLOUD_TASKS_EMULATOR_HOST: tasks, FIREBASE_EMULATOR_HUB: hub, GCLOUD_PROJECT: project } = environment;
  const location = environment.LOCATION || COUNTING_DEFAULTS.LOCATION;
  const sweep = nameOfSweep(environment);
  const queue = `http://${tasks}/projects/${project}/locations/${location}/queues/${sweep}-after-loading`;
  try {
    type Emulators = { readonly functions: { readonly host: string; readonly port: number } };
    const { functions } = await call<Emulators>("GET", `http://${hub}/emulators`);
    // The emulator keeps a schedule as a function to be called, also if it cannot run it.
    const url = `http://${functions.host}:${functions.port}/functions/projects/${project}/triggers/${location}-${sweep}-0`;
    await call("POST", queue, { retryConfig: RETRIES });
    await call("POST", `${queue}/tasks`, { task: { httpRequest: { url, body: btoa("{}") } } });
  } catch (error) {
    console.warn("Tally could not schedule a look at imported data; a write to a counter brings it up to date:", error);
  }
}

function nameOfSweep({ FIREBASE_KIT_INSTANCE_ID: kit }: Environment): string {
  return packaging() === "kit" ? `kit-${kit}-sweep` : `${GROUP}-sweep`;
}

/** The discovery waits for its process, so none of the emulators, which answer in milliseconds, may hold it up. */
const TIMEOUT_MS = 2_000;

async function call<Answer>(method: "GET" | "POST", url: string, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json" },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return (await response.json()) as Answer;
}
