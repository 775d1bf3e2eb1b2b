/** What a command has that touches a database: the database, and the counters in it by id. */
import type { Firestore } from "firebase-admin/firestore";
import { type CounterRef, counter } from "../../admin/src/counter.ts";
import { reach, readText, type Target, type TargetOptions, targetOf } from "./target.ts";

/** The options that every command has. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly verbose?: boolean;
}

export interface Session {
  readonly firestore: Firestore;
  readonly target: Target;
  /** Results as JSON, for scripts. */
  readonly json: boolean;
  /** Nobody is to be asked. */
  readonly yes: boolean;
  /** @throws CounterError `counter/invalid-id` */
  ref(id: string): CounterRef;
}

export async function openSession(options: GlobalOptions): Promise<Session> {
  const target = targetOf(options, process.env, readText);
  if (target.emulator !== null) {
    await reach(target.emulator);
    process.env.FIRESTORE_EMULATOR_HOST = target.emulator;
  }
  const { initializeApp } = await import("firebase-admin/app");
  const { getFirestore } = await import("firebase-admin/firestore");
  const firestore = getFirestore(initializeApp({ projectId: target.project }), target.database);
  return {
    firestore,
    target,
    json: options.json ?? false,
    yes: options.yes ?? false,
    ref: (id) => counter(firestore, id, { collection: target.collection }),
  };
}
