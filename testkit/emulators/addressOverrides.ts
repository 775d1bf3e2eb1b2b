/**
 * Makes one emulator find another at a different address, such as a proxy's. firebase-tools has no setting for that.
 */
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Addresses that the functions' workers use instead of the real ones, `host:port`. */
export interface WorkerAddresses {
  /** For codebases with a database each: by its id. */
  readonly firestore?: string | Readonly<Record<string, string>> | undefined;
  readonly tasks?: string | undefined;
}

/** The environment in which firebase-tools' workers use other addresses. */
export function overrideWorkerAddresses(
  env: NodeJS.ProcessEnv,
  { firestore, tasks }: WorkerAddresses,
): NodeJS.ProcessEnv {
  const preload = new URL("overrideWorkerAddresses.mjs", import.meta.url);
  return {
    ...env,
    ...(firestore && {
      TALLY_WORKERS_FIRESTORE: typeof firestore === "string" ? firestore : JSON.stringify(firestore),
    }),
    ...(tasks && { TALLY_WORKERS_TASKS: tasks }),
    NODE_OPTIONS: `${env.NODE_OPTIONS ?? ""} --import ${preload.href}`,
  };
}

/**
 * The environment in which the Firestore emulator sends its events to another address. It takes the address of the functions from
 * its command line, so `java` is replaced by a script that changes that argument. Not on Windows.
 */
export function overrideEventTarget(env: NodeJS.ProcessEnv, folder: string, functions: string): NodeJS.ProcessEnv {
  writeFileSync(
    join(folder, "java"),
    [
      "#!/bin/sh",
      "for argument; do",
      "  shift",
      `  [ "$previous" = --functions_emulator ] && set -- "$@" "${functions}" || set -- "$@" "$argument"`,
      "  previous=$argument",
      "done",
      `PATH=\${PATH#*${folder}:} exec java "$@"`,
      "",
    ].join("\n"),
    { mode: 0o755 },
  );
  return { ...env, PATH: [folder, env.PATH].join(delimiter) };
}
