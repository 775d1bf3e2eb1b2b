/**
 * Where the contenders meet: one suite, and three ways to it that are metered apart, for those who write, those who watch
 * and the functions. All three are governed as one database, each with the latency of its place.
 */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { startEmulators } from "../testkit/emulators/emulators.ts";
import type { Packaging } from "../testkit/emulators/project.ts";
import { type GovernorCounts, governor } from "../testkit/governor.ts";
import { type GrpcProxy, startProxy } from "../testkit/grpcProxy.ts";
import { type MeterReading, meter } from "../testkit/meter.ts";
import type { Millis } from "../testkit/statistics.ts";
import type { WriteLimits } from "../testkit/writeLimiter.ts";
import { RIVALS_RULES } from "./contenders.ts";

/** Each way. */
export interface Latencies {
  /** Between the clients and Firestore. */
  readonly clients: Millis;
  /** Between the functions and Firestore, which are in one region. */
  readonly functions: Millis;
}

export interface Way extends MeterReading {
  readonly addresses: readonly string[];
}

export interface Rig {
  readonly writers: Way;
  readonly watchers: Way;
  readonly functions: Way;
  readonly governed: Readonly<GovernorCounts>;
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

/** A suite with nothing in front of it. */
export interface Plain {
  readonly emulator: string;
  stop(): Promise<void>;
}

export async function startPlain(signal: AbortSignal, packaging: Packaging = "plain"): Promise<Plain> {
  const { env, stop } = await startEmulators({ packaging, params: {}, signal });
  find(env);
  return { emulator: env.FIRESTORE_EMULATOR_HOST as string, stop };
}

/** Whatever is loaded from here on, and every process started from here on, finds the suite. */
function find(env: Record<string, string>): void {
  // Otherwise the Admin SDK first looks for the machine's credentials over the network, for a second.
  Object.assign(process.env, env, { METADATA_SERVER_DETECTION: "none" });
}

export async function startRig(
  limits: WriteLimits,
  latencies: Latencies,
  signal: AbortSignal,
  packaging: Packaging = "plain",
): Promise<Rig> {
  const { governed, inspection } = governor(limits);
  const proxies: GrpcProxy[] = [];
  const way = async (firestore: string, latency: Millis, doors: number): Promise<Way> => {
    const counted = meter();
    const proxy = await startProxy(firestore, [inspection, counted.inspection], { latency, doors });
    proxies.push(proxy);
    return { ...counted.measured, addresses: proxy.addresses };
  };
  let functions: Way | undefined;
  const suite = await startEmulators({
    packaging,
    params: {},
    signal,
    functionsFirestore: async (firestore) => {
      functions = await way(firestore, latencies.functions, 1);
      return functions.addresses[0] as string;
    },
  });
  find(suite.env);
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
      const runs = (name: string) => log.split(`Beginning execution of "us-central1-tally-${name}"`).length - 1;
      return Object.fromEntries(FUNCTIONS.map((name) => [name, runs(name)]));
    },
    async stop() {
      await rivals.cleanup();
      await suite.stop();
      for (const proxy of proxies) proxy.close();
    },
  };
}
