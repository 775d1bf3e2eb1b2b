/**
 * Has one emulator find another at an address of our choice, a proxy's say. firebase-tools passes the real addresses on
 * and has no setting for it.
 */
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What the functions' workers are to see instead of the real addresses, `host:port`. */
export interface WorkerAddresses {
  readonly firestore?: string | undefined;
  readonly tasks?: string | undefined;
}

/** The environment in which firebase-tools' workers see something else. */
export function overrideWorkerAddresses(
  env: NodeJS.ProcessEnv,
  { firestore, tasks }: WorkerAddresses,
): NodeJS.ProcessEnv {
  const preload = new URL("overrideWorkerAddresses.mjs", import.meta.url);
  return {
    ...env,
    ...(firestore && { TALLY_WORKERS_FIRESTORE: firestore }),
    ...(tasks && { TALLY_WORKERS_TASKS: tasks }),
    NODE_OPTIONS: `${env.NODE_OPTIONS ?? ""} --import ${preload.href}`,
  };
}

/**
 * The environment in which the Firestore emulator sends its events elsewhere. It learns where the functions are from its
 * command line alone, so what firebase-tools finds as `java` is a script that changes that argument. Not on Windows.
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
