/**
 * Runs a command against the Emulator Suite with Tally's functions loaded, then stops the emulators. The exit code
 * is the command's.
 *
 *     npm run emulators -- [--as plain|hosted|extension|kit|extension+kit] [--param NAME=VALUE]… [--latency MS] "<command>"
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { PARAMETERS } from "../../functions/src/deploy/parameters.ts";
import { delayingProxy } from "../tcpProxy.ts";
import { type EmulatorOptions, type Emulators, startEmulators } from "./emulators.ts";
import { PACKAGINGS, type Packaging } from "./project.ts";
import { MissingRequirement } from "./requirements.ts";

const USAGE = `Usage: npm run emulators -- [options] "<command>"

  --as plain|extension|kit   how the functions are loaded (default: plain); extension+kit loads both, and hosted
                             runs them in one process each for N projects, beside the Functions emulator's place
  --hosts N                  with --as hosted: how many (default: 1)
  --param NAME=VALUE         a parameter of the functions, such as SHRINK_COOLDOWN_SECONDS=5; may be repeated
                             EDITION=enterprise also asks for that edition of the Firestore emulator; 1.19.9 has none
  --latency MS               puts MS milliseconds of latency, each way, on every connection to Firestore

The command sees FIRESTORE_EMULATOR_HOST, FIREBASE_AUTH_EMULATOR_HOST and GCLOUD_PROJECT.`;

/** Wrong arguments: nothing was started. */
class Refusal extends Error {}

function readArguments(): { options: EmulatorOptions; latency: number; command: string[] } {
  const refuse = (problem: string): never => {
    throw new Refusal(`${problem}\n\n${USAGE}`);
  };
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      as: { type: "string", default: "plain" },
      hosts: { type: "string", default: "1" },
      param: { type: "string", multiple: true, default: [] },
      latency: { type: "string", default: "0" },
    },
  });
  const params = values.param.map((param) => /^([^=]*)=?(.*)$/s.exec(param)?.slice(1) ?? []);
  const latency = Number(values.latency);
  const isPackaging = (name: string): name is Packaging => (PACKAGINGS as readonly string[]).includes(name);
  if (positionals.length === 0) refuse("No command to run.");
  if (!isPackaging(values.as)) return refuse(`--as ${values.as}: it is one of ${PACKAGINGS.join(", ")}.`);
  if (!(Number(values.hosts) >= 1)) refuse(`--hosts ${values.hosts}: it is a number of processes.`);
  if (!(latency >= 0)) refuse(`--latency ${values.latency}: it is a number of milliseconds.`);
  const isExtension = values.as.startsWith("extension");
  for (const [name = "", value] of params) {
    const parameter = PARAMETERS[name];
    if (!parameter || (isExtension && parameter.isNotInExtension))
      refuse(`--param ${name}: there is no such parameter.`);
    if (!value) refuse(`--param ${name}: give it a value, ${name}=VALUE.`);
  }
  return {
    options: { packaging: values.as, params: Object.fromEntries(params), hosts: Number(values.hosts) },
    latency,
    command: positionals,
  };
}

/**
 * One argument is a shell's command line; several are a program and its arguments.
 *
 * @param started  told of the process
 */
async function run(
  command: string[],
  env: Record<string, string>,
  started: (child: ChildProcess) => void,
): Promise<number> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: "inherit",
    shell: command.length === 1,
    env: { ...process.env, ...env },
  });
  started(child);
  const [code, signal] = await once(child, "exit");
  return signal ? INTERRUPTED : code;
}

const INTERRUPTED = 130;

/** @returns the exit code, after the emulators have stopped */
async function main(): Promise<number> {
  let emulators: Emulators | undefined;
  let child: ChildProcess | undefined;
  const interruption = new AbortController();
  // Ctrl-C reaches the command by itself, other signals do not. This process ends last, to stop the emulators.
  process.on("SIGINT", () => interruption.abort());
  process.on("SIGTERM", () => {
    interruption.abort();
    child?.kill("SIGTERM");
  });
  try {
    const { options, latency, command } = readArguments();
    let proxied: string | undefined;
    if (latency > 0) {
      options.functionsFirestore = async (firestore) => {
        proxied = (await delayingProxy(firestore, latency)).address;
        return proxied;
      };
    }
    process.stderr.write(`Starting the emulators (${options.packaging})… `);
    emulators = await startEmulators({ ...options, signal: interruption.signal });
    interruption.signal.throwIfAborted();
    process.stderr.write("ready.\n");
    const env = {
      ...emulators.env,
      ...(proxied && { FIRESTORE_EMULATOR_HOST: proxied, TALLY_LATENCY: String(latency) }),
    };
    return await run(command, env, (process) => {
      child = process;
    });
  } catch (error) {
    if (interruption.signal.aborted) {
      console.error("\nInterrupted.");
      return INTERRUPTED;
    }
    const { message, stack, code = "" } = error as NodeJS.ErrnoException;
    const isExplained =
      error instanceof Refusal || error instanceof MissingRequirement || /^ERR_PARSE_ARGS|^ENOENT/.test(code);
    console.error(`\n${isExplained ? message : stack}`);
    return 1;
  } finally {
    await emulators?.stop();
  }
}

process.exit(await main());
