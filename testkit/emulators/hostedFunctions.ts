/**
 * The functions in long-lived processes instead of the Functions emulator, which starts a process of 2.4 CPU-seconds for each request
 * that finds the others busy. A host runs them as production does: in Google's Functions Framework, many requests at a time. Each host
 * has a Firebase project of its own, so test files that run at the same time share nothing.
 *
 * Firestore's events, the task queue and HTTP requests are the emulators' own. As in the Functions emulator, an event that fails is
 * not retried, and no schedule runs by itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { Agent, createServer, request, type Server } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { COUNTING_DEFAULTS } from "../../functions/src/deploy/parameters.ts";
import { logOfHost, projectOfHost } from "./hosts.ts";

const HOST_PROCESS = fileURLToPath(new URL("hostProcess.ts", import.meta.url));

/** Calls a path of the functions: an event's trigger, or an HTTP function. The project is its second or its first part. */
const PROJECT_IN_PATH = /^\/(?:functions\/projects\/)?([^/]+)\//;

/**
 * Starts the hosts, and resolves when their triggers are registered.
 *
 * @param count   how many there are
 * @param params  parameters that differ from their defaults, by name
 * @param env     the addresses of the emulators, and those where functions and tasks are to listen
 * @param folder  where the hosts write their output
 */
export async function hostFunctions(
  count: number,
  params: Record<string, string>,
  env: Record<string, string>,
  folder: string,
): Promise<{ readonly pids: readonly number[]; stop(): Promise<void> }> {
  const ports = new Map<string, number>();
  const router = await startRouter(portOf(env.TALLY_FUNCTIONS_HOST), ports);
  const tasks = await startTasks(portOf(env.CLOUD_TASKS_EMULATOR_HOST));
  const hosts: ChildProcess[] = [];
  const start = async (project: string) => {
    const log = openSync(logOfHost(folder, project), "a");
    const host = spawn(process.execPath, [HOST_PROCESS], {
      stdio: ["ignore", log, log, "ipc"],
      env: {
        ...{ ...process.env, ...env, ...COUNTING_DEFAULTS, ...params },
        ...{ GCLOUD_PROJECT: project, FUNCTIONS_EMULATOR: "true", LOCATION: "us-central1" },
        FIREBASE_CONFIG: JSON.stringify({ projectId: project }),
      },
    });
    hosts.push(host);
    const [started] = await Promise.race([once(host, "message"), once(host, "exit")]);
    const { port } = (started ?? {}) as { port?: number };
    if (!port) throw new Error(`The functions did not start:\n${readFileSync(logOfHost(folder, project), "utf8")}`);
    ports.set(project, port);
  };
  const stop = async () => {
    for (const host of hosts) host.kill("SIGKILL");
    router.close().closeAllConnections();
    await tasks.stop();
  };
  try {
    await Promise.all(Array.from({ length: count }, (_, index) => start(projectOfHost(index + 1))));
  } catch (error) {
    await stop();
    throw error;
  }
  return { pids: hosts.flatMap(({ pid }) => pid ?? []), stop };
}

const portOf = (address = "") => Number(address.split(":")[1]);

/** Passes each request on to the host of its project, because Firestore's emulator sends all events to one address. */
async function startRouter(port: number, ports: ReadonlyMap<string, number>): Promise<Server> {
  const server = createServer((incoming, answer) => {
    const { method, url = "", headers } = incoming;
    const host = ports.get(PROJECT_IN_PATH.exec(url)?.[1] ?? "");
    if (host === undefined) return void answer.writeHead(404).end(`no functions at ${url}\n`);
    const onward = request({ port: host, host: "127.0.0.1", method, path: url, headers, agent }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    onward.on("error", (error) => answer.writeHead(503).end(error.message));
    incoming.pipe(onward);
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return server;
}

const agent = new Agent({ keepAlive: true });

/** Starts the emulator of Cloud Tasks, which firebase-tools starts only with its Functions emulator. */
async function startTasks(port: number): Promise<{ stop(): Promise<void> }> {
  const { TasksEmulator } = createRequire(import.meta.url)("firebase-tools/lib/emulator/tasksEmulator.js");
  const tasks = new TasksEmulator({ host: "127.0.0.1", port });
  await tasks.start();
  return tasks;
}
