/**
 * Makes one emulator find another at a different address, such as a proxy's. firebase-tools has no setting for that.
 */

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
  return preloaded({
    ...env,
    ...(firestore && {
      TALLY_WORKERS_FIRESTORE: typeof firestore === "string" ? firestore : JSON.stringify(firestore),
    }),
    ...(tasks && { TALLY_WORKERS_TASKS: tasks }),
  });
}

/** The environment in which the Firestore emulator sends its events to another address, `host:port`. */
export function overrideEventTarget(env: NodeJS.ProcessEnv, functions: string): NodeJS.ProcessEnv {
  return preloaded({ ...env, TALLY_EVENTS_TO: functions });
}

function preloaded(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const preload = new URL("overrideAddresses.mjs", import.meta.url);
  return { ...env, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ""} --import ${preload.href}` };
}
