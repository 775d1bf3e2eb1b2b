/** The command line in the process of a test, which takes milliseconds; a process of its own takes half a second. */
import { deleteApp, getApps } from "firebase-admin/app";
import { APP_NAME } from "../src/commandContext.ts";
import { run } from "../src/run.ts";

export interface FinishedProgram {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the source of a command in this process, one at a time. Without a terminal it cannot ask for confirmation. */
export async function runCommand(...args: string[]): Promise<FinishedProgram> {
  const { argv, env, stdout, stderr } = process;
  const emulator = env.FIRESTORE_EMULATOR_HOST;
  const [printed, told] = [capture(stdout), capture(stderr)];
  // A command that is interrupted prints how to resume it.
  process.argv = [...argv.slice(0, 2), ...args];
  process.exitCode = undefined;
  try {
    return { exitCode: await run(args), stdout: printed.text(), stderr: told.text() };
  } finally {
    for (const captured of [printed, told]) captured.end();
    process.argv = argv;
    process.exitCode = undefined;
    if (emulator !== undefined) env.FIRESTORE_EMULATOR_HOST = emulator;
    else delete env.FIRESTORE_EMULATOR_HOST;
    for (const app of getApps().filter(({ name }) => name === APP_NAME)) await deleteApp(app);
  }
}

/** Keeps what is written to a stream, instead of showing it. */
function capture(stream: NodeJS.WriteStream): { text(): string; end(): void } {
  const { write } = stream;
  let kept = "";
  stream.write = (chunk: string | Uint8Array) => {
    kept += chunk.toString();
    return true;
  };
  return {
    text: () => kept,
    end() {
      stream.write = write;
    },
  };
}
