/** Both sides of the comparison: the model and the emulator, with the rules and without functions. */

import { initializeTestEnvironment, type RulesTestEnvironment } from "@firebase/rules-unit-testing";
import * as realAdmin from "@google-cloud/firestore";
import * as realWeb from "firebase/firestore";
import { OPEN_RULES } from "../../../testkit/rules.ts";
import * as modelAdmin from "../model/adminSdk.ts";
import { complete, connect, createNetwork } from "../model/createNetwork.ts";
import type { Micros } from "../model/values.ts";

export interface Emulator {
  readonly environment: RulesTestEnvironment;
  /** Bypasses the rules. */
  readonly firestore: realAdmin.Firestore;
  close(): Promise<void>;
}

/** @param projectId  a project of its own, which no function watches */
export async function connectToEmulator(projectId: string): Promise<Emulator> {
  realWeb.setLogLevel("silent");
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  const rules = OPEN_RULES;
  const environment = await initializeTestEnvironment({ projectId, firestore: { host, port: Number(port), rules } });
  const firestore = new realAdmin.Firestore({ projectId });
  return {
    environment,
    firestore,
    async close() {
      await firestore.terminate();
      await environment.cleanup();
    },
  };
}

/** Time for one call of the model. */
const CALL: Micros = 1e6;

/** A model without faults. */
export function createModel() {
  const network = createNetwork();
  return {
    connect: (name: string) => connect(network, name),
    run: <T>(call: Promise<T>) => complete(network, call, CALL),
    scheduler: network.scheduler,
  };
}

/** Values of either SDK, made comparable. A timestamp becomes a constant, since the clocks differ. */
export function plain(value: unknown): unknown {
  if (value instanceof realAdmin.Timestamp || value instanceof modelAdmin.Timestamp) return "timestamp";
  if (value instanceof Uint8Array) return `bytes ${value.join(" ")}`;
  if (value instanceof realWeb.Bytes) return plain(value.toUint8Array());
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, plain(inner)]));
}

/** Comparisons take many calls. */
export const LONG = { timeout: 300_000 };
