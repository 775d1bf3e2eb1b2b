/**
 * Starts the Emulator Suite with Tally loaded in one of its three packagings, on free ports, in a folder of its own,
 * so that several suites can run side by side and nothing is left behind.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { emulatorEnvironment, explainFailure, MissingRequirement } from "./requirements.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** `demo-` projects never reach Google's servers. */
export const PROJECT = "demo-tally";

/** Where the functions publish their events. */
const EVENTARC_CHANNEL = "locations/us-central1/channels/firebase";

/** How the functions are loaded: as a plain codebase, through extension.yaml, or as a function kit. */
export const PACKAGINGS = ["plain", "extension", "kit"] as const;
export type Packaging = (typeof PACKAGINGS)[number];

export interface SuiteOptions {
  packaging: Packaging;
  /** Parameters of the functions that differ from their defaults, by name. */
  params: Record<string, string>;
  /** `host:port` at which the functions see Firestore, given its real address: a proxy's, say. */
  functionsFirestore?: (firestore: string) => Promise<string>;
}

export interface Suite {
  /** Where each emulator listens, `host:port` by name. */
  readonly addresses: Record<string, string>;
  /** What a command needs to find the suite: `FIRESTORE_EMULATOR_HOST`, `GCLOUD_PROJECT` and the like. */
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

/** @throws MissingRequirement, or an `Error` that ends with what firebase-tools printed */
export async function startSuite({ packaging, params, functionsFirestore }: SuiteOptions): Promise<Suite> {
  const folder = mkdtempSync(join(tmpdir(), "tally-suite-"));
  const stopped = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    const ports = await writeProject(folder, packaging, params);
    const addresses = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `127.0.0.1:${port}`]));
    const environment = emulatorEnvironment(folder);
    if (functionsFirestore) {
      environment.TALLY_FUNCTIONS_FIRESTORE = await functionsFirestore(addresses.firestore as string);
      const preload = new URL("redirectFirestore.mjs", import.meta.url);
      environment.NODE_OPTIONS = `${environment.NODE_OPTIONS ?? ""} --import ${preload.href}`;
    }
    const log = join(folder, "suite.log");
    const firebase = await startFirebase(folder, log, environment, packaging);
    return {
      addresses,
      env: {
        GCLOUD_PROJECT: PROJECT,
        FIRESTORE_EMULATOR_HOST: addresses.firestore as string,
        FIREBASE_AUTH_EMULATOR_HOST: addresses.auth as string,
        PUBSUB_EMULATOR_HOST: addresses.pubsub as string,
        CLOUD_TASKS_EMULATOR_HOST: addresses.tasks as string,
        TALLY_FUNCTIONS_HOST: addresses.functions as string,
        TALLY_PACKAGING: packaging,
        TALLY_LOG: log,
      },
      stop: () => stopFirebase(firebase).finally(stopped),
    };
  } catch (error) {
    stopped();
    throw error;
  }
}

/** Lays out a Firebase project that is this repository but for its ports and packaging. */
async function writeProject(folder: string, packaging: Packaging, params: Record<string, string>) {
  const config = JSON.parse(readFileSync(join(repository, "firebase.json"), "utf8"));
  const ports: Record<string, number> = {};
  for (const name of ["auth", "eventarc", "firestore", "functions", "pubsub", "tasks", "hub", "logging"]) {
    ports[name] = await getPort();
    config.emulators[name] = { ...config.emulators[name], host: "127.0.0.1", port: ports[name] };
  }
  config.emulators.firestore.websocketPort = await getPort();

  for (const name of ["functions", "node_modules", config.firestore.rules, config.firestore.indexes]) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  const env = Object.entries({ EVENTARC_CHANNEL, ...params }).map(([name, value]) => `${name}=${value}\n`);
  const [codebase] = config.functions;
  if (packaging === "extension") {
    delete config.functions;
    config.extensions = { tally: repository };
    mkdirSync(join(folder, "extensions"));
    writeFileSync(
      join(folder, "extensions", "tally.env"),
      ["LOCATION=us-central1\n", "DATABASE_REGION=us-central1\n", ...env].join(""),
    );
  } else {
    mkdirSync(join(folder, "params"));
    writeFileSync(join(folder, "params", ".env"), env.join(""));
    const { runtime, source } = codebase;
    config.functions =
      packaging === "kit"
        ? [{ kit: "firestore-tally-kit", source, runtime, instances: { main: "params" } }]
        : [{ ...codebase, configDir: "params" }];
  }
  writeFileSync(join(folder, "firebase.json"), JSON.stringify(config, null, 2));
  return ports;
}

const ONLY = "auth,firestore,functions,pubsub,tasks";

/** Resolves when every emulator is ready and every function is loaded. */
async function startFirebase(folder: string, log: string, env: NodeJS.ProcessEnv, packaging: Packaging) {
  const only = packaging === "extension" ? `${ONLY},extensions` : ONLY;
  const firebase = spawn("firebase", ["emulators:start", "--project", PROJECT, "--only", only], {
    cwd: folder,
    env: { ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    // In a process group of its own, so that Ctrl-C reaches us alone and we stop it in good order.
    detached: true,
  });
  const file = createWriteStream(log);
  let printed = "";
  let resolve = () => {};
  const ready = new Promise<void>((done) => {
    resolve = done;
  });
  for (const stream of [firebase.stdout, firebase.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      file.write(text);
      if (printed.length < 100_000) printed += text;
      if (printed.includes("All emulators ready")) resolve();
    });
  }
  const ended = new Promise<never>((_, reject) => {
    firebase.once("exit", (code) => {
      const why = explainFailure(printed);
      reject(why ? new MissingRequirement(why) : new Error(`firebase-tools ended with code ${code}:\n${printed}`));
    });
    firebase.once("error", reject);
  });
  await Promise.race([ready, ended]);
  if (/Failed to load function|Error: .*functions/.test(printed) || !printed.includes("wake")) {
    await stopFirebase(firebase);
    throw new Error(`The functions did not load:\n${printed}`);
  }
  ended.catch(() => undefined);
  return firebase;
}

/** Asks firebase-tools to end, which ends the emulators; whatever is left of its processes is killed. */
async function stopFirebase(firebase: ChildProcess): Promise<void> {
  if (firebase.exitCode !== null || firebase.pid === undefined) return;
  const processes = [firebase.pid, ...descendants(firebase.pid)];
  const exited = new Promise((resolve) => firebase.once("exit", resolve));
  firebase.kill("SIGINT");
  await Promise.race([exited, sleep(30_000, undefined, { ref: false })]);
  for (const pid of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself, as it should.
    }
  }
}

/** The processes a process has started, and those that they have. */
function descendants(parent: number): number[] {
  if (process.platform === "win32") return [];
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const all = table
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const of = (pid: number): number[] =>
    all.filter(([, ppid]) => ppid === pid).flatMap(([child]) => [child, ...of(child)]);
  return of(parent);
}
