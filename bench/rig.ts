/**
 * Where the contenders meet: one suite, and three ways to it that are metered apart, for those who write, those who watch
 * and the functions. All three are governed as one database, each with the latency of its place.
 */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { startSuite } from "../emulators/suite.ts";
import { RIVALS_RULES } from "./contenders.ts";
import { type Governed, governor } from "./governor.ts";
import type { WriteLimits } from "./hotDocuments.ts";
import { type Measured, meter } from "./meter.ts";
import { type GrpcProxy, startProxy } from "./proxy.ts";
import type { Millis } from "./statistics.ts";

/** Each way. */
export interface Latencies {
  /** Between the clients and Firestore. */
  readonly clients: Millis;
  /** Between the functions and Firestore, which are in one region. */
  readonly functions: Millis;
}

export interface Way extends Measured {
  readonly addresses: readonly string[];
}

export interface Rig {
  readonly writers: Way;
  readonly watchers: Way;
  readonly functions: Way;
  readonly governed: Readonly<Governed>;
  /** Firestore itself, past everything. */
  readonly emulator: string;
  /** How often the functions ran so far, by name. */
  invocations(): Record<string, number>;
  stop(): Promise<void>;
}

/** The project of the contenders that are not Tally. */
export const RIVALS_PROJECT = "demo-rivals";

/** Connections that all writers together have: so many that each has few of them. */
const CONNECTIONS = 100;

const FUNCTIONS = ["wake", "wakezero", "wakebase", "created", "deleted", "aggregate", "sweep"];

export async function startRig(limits: WriteLimits, latencies: Latencies, signal: AbortSignal): Promise<Rig> {
  const { governed, inspection } = governor(limits);
  const proxies: GrpcProxy[] = [];
  const way = async (firestore: string, latency: Millis, doors: number): Promise<Way> => {
    const counted = meter();
    const proxy = await startProxy(firestore, [inspection, counted.inspection], { latency, doors });
    proxies.push(proxy);
    return { ...counted.measured, addresses: proxy.addresses };
  };
  let functions: Way | undefined;
  const suite = await startSuite({
    packaging: "plain",
    params: {},
    signal,
    functionsFirestore: async (firestore) => {
      functions = await way(firestore, latencies.functions, 1);
      return functions.addresses[0] as string;
    },
  });
  // Whatever is loaded from here on finds the suite.
  Object.assign(process.env, suite.env);
  const emulator = suite.env.FIRESTORE_EMULATOR_HOST as string;
  const [host = "", port] = emulator.split(":");
  const rivals = await initializeTestEnvironment({
    projectId: RIVALS_PROJECT,
    firestore: { host, port: Number(port), rules: RIVALS_RULES },
  });
  return {
    writers: await way(emulator, latencies.clients, CONNECTIONS),
    watchers: await way(emulator, latencies.clients, 1),
    functions: functions as Way,
    governed,
    emulator,
    invocations() {
      const log = readFileSync(suite.env.TALLY_LOG as string, "utf8");
      const runs = (name: string) => log.split(`Beginning execution of "us-central1-${name}"`).length - 1;
      return Object.fromEntries(FUNCTIONS.map((name) => [name, runs(name)]));
    },
    async stop() {
      await rivals.cleanup();
      await suite.stop();
      for (const proxy of proxies) proxy.close();
    },
  };
}
