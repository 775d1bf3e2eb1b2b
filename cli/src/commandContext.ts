/** What a command on a database works with: the connection, its counters by id, and the options of every command. */
import type { App } from "firebase-admin/app";
import type { Firestore } from "firebase-admin/firestore";
import type { CounterRef } from "../../admin/src/index.ts";
import { newCounter } from "../../admin/src/internal.ts";
import { validName } from "../../core/src/index.ts";
import { assertReachable, type DatabaseTarget, readText, resolveTarget, type TargetOptions } from "./databaseTarget.ts";

/** The options of every command. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly verbose?: boolean;
}

export interface CommandContext {
  readonly app: App;
  readonly firestore: Firestore;
  readonly target: DatabaseTarget;
  /** Print results as JSON. */
  readonly json: boolean;
  /** Do not ask. */
  readonly yes: boolean;
  /** @throws CounterError `counter/invalid-id` */
  ref(id: string): CounterRef;
}

/** A name of its own: a program that runs a command in its process may have a default app. */
export const APP_NAME = "firestore-tally";

export async function openContext(options: GlobalOptions): Promise<CommandContext> {
  const target = resolveTarget(options, process.env, readText);
  if (target.emulator !== null) {
    await assertReachable(target.emulator);
    process.env.FIRESTORE_EMULATOR_HOST = target.emulator;
  }
  const { initializeApp } = await import("firebase-admin/app");
  const { getFirestore } = await import("firebase-admin/firestore");
  const app = initializeApp({ projectId: target.project }, APP_NAME);
  const firestore = getFirestore(app, target.database);
  return {
    app,
    firestore,
    target,
    json: options.json ?? false,
    yes: options.yes ?? false,
    // A hostile client may have made a counter with control characters in its id, which has to be shown and deleted.
    ref(id) {
      validName("id", id.replace(/\p{Cc}/gu, "-"));
      return newCounter(firestore, id, target.collection);
    },
  };
}
