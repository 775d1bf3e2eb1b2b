/**
 * What keeps cold starts short. A process runs one function, named in `FUNCTION_TARGET`. The functions that Firestore triggers are
 * defined in every process, because they share one part of firebase-functions. Any other function is defined only in its own processes,
 * and loads its part there: those of requests and tasks add a quarter to a cold start (`npm run bench -- --only coldStart`).
 *
 * A process defines all functions if `FUNCTION_TARGET` does not name one of them: before a deployment, in a debugger, or in an app that
 * has renamed the function.
 */
import { createRequire } from "node:module";
import { FUNCTIONS } from "./functions.ts";

/** The function that this process runs, by the name of its export. */
export function targetFunction(): string | undefined {
  return process.env.FUNCTION_TARGET?.split(".").at(-1);
}

/** `define()`, or `undefined` in a process that runs another function. */
export function defineWhereRun<Defined>(name: string, define: () => Defined): Defined | undefined {
  // In the emulator's debug mode one process serves all functions, whatever it was started for.
  const target = process.env.FUNCTION_DEBUG_MODE ? undefined : targetFunction();
  const isOther = target !== undefined && target !== name && FUNCTIONS.has(target);
  return isOther ? undefined : define();
}

interface Sdk {
  readonly "v1/https": typeof import("firebase-functions/v1/https");
  readonly "v1/pubsub": typeof import("firebase-functions/v1/pubsub");
  readonly "v1/tasks": typeof import("firebase-functions/v1/tasks");
  readonly "v2/options": typeof import("firebase-functions/v2/options");
  readonly "v2/https": typeof import("firebase-functions/v2/https");
  readonly "v2/pubsub": typeof import("firebase-functions/v2/pubsub");
  readonly "v2/scheduler": typeof import("firebase-functions/v2/scheduler");
  readonly "v2/tasks": typeof import("firebase-functions/v2/tasks");
}

const require = createRequire(import.meta.url);

/**
 * Loads a part of firebase-functions. Not with `await import()`, because the Functions emulator cannot load a module that awaits at its
 * top level. The part is CommonJS; parameters and global options are the same in both formats.
 */
export function sdk<Part extends keyof Sdk>(part: Part): Sdk[Part] {
  return require(`firebase-functions/${part}`);
}
