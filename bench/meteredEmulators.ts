/**
 * The emulators that a part of the benchmark runs on: plain, or behind three metered connections, for clients that write, for
 * clients that watch and for the functions. One governor limits all three as one database, and each has its own latency.
 */
import type { Operations } from "../costs/src/index.ts";
import { countInvocations } from "../testkit/deployedFunctions.ts";
import { type EmulatorOptions, type Emulators, startEmulators } from "../testkit/emulators/emulators.ts";
import { type GovernorCounts, governor } from "../testkit/governor.ts";
import { type GrpcProxy, startProxy } from "../testkit/grpcProxy.ts";
import { type MeterReading, meter } from "../testkit/meter.ts";
import type { WriteLimits } from "../testkit/production/contention.ts";
import { loadRules } from "../testkit/rules.ts";
import type { Millis } from "../testkit/statistics.ts";
import { OTHERS_PROJECT, OTHERS_RULES } from "./approaches.ts";

/** What the governor and the proxies simulate. */
export interface Conditions {
  readonly limits: WriteLimits;
  /** Each way: between clients and Firestore, and between the functions and Firestore, which are in one region. */
  readonly latencies: { readonly clients: Millis; readonly functions: Millis };
}

interface Connection extends MeterReading {
  readonly addresses: readonly string[];
}

export interface MeteredEmulators {
  readonly writers: Connection;
  readonly watchers: Connection;
  readonly governed: Readonly<GovernorCounts>;
  /** Firestore's own address, past the proxies. */
  readonly firestore: string;
  /** What the writers have used so far; with the functions if `isTally`. */
  billed(isTally: boolean): Operations;
}

/** Connections of all writers together, so that few of them share one. */
const CONNECTIONS = 100;

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interruption.abort());

/** Starts the emulators, runs a part of the benchmark on them and stops them, also if that fails or is interrupted. */
export async function withEmulators<Result>(
  use: (firestore: string) => Promise<Result>,
  settings: Pick<EmulatorOptions, "functionsFirestore"> = {},
): Promise<Result> {
  process.stderr.write("Starting the emulators… ");
  const { signal } = interruption;
  const emulators: Emulators = await startEmulators({ packaging: "plain", params: {}, signal, ...settings });
  process.stderr.write("ready.\n");
  // Modules that are loaded and processes that are started from here on find the emulators.
  Object.assign(process.env, emulators.env);
  const interrupt = async () => {
    console.error("\nInterrupted.");
    await emulators.stop();
    process.exit(130);
  };
  signal.addEventListener("abort", interrupt, { once: true });
  try {
    return await use(emulators.env.FIRESTORE_EMULATOR_HOST as string);
  } finally {
    signal.removeEventListener("abort", interrupt);
    await emulators.stop();
  }
}

/** @param conditions  `undefined`: no governor and no latency */
export async function withMeteredEmulators<Result>(
  conditions: Conditions | undefined,
  use: (emulators: MeteredEmulators) => Promise<Result>,
): Promise<Result> {
  const { governed, inspection } = governor(conditions?.limits);
  const { latencies = { clients: 0, functions: 0 } } = conditions ?? {};
  const proxies: GrpcProxy[] = [];
  const connect = async (target: string, latency: Millis, addressCount = 1): Promise<Connection> => {
    const { reading, inspection: metering } = meter();
    const inspections = [...(conditions ? [inspection] : []), metering];
    const proxy = await startProxy(target, inspections, { latency, addressCount });
    proxies.push(proxy);
    return { ...reading, addresses: proxy.addresses };
  };
  let functions: Connection | undefined;
  const run = async (firestore: string) => {
    await loadRules(OTHERS_PROJECT, OTHERS_RULES);
    const writers = await connect(firestore, latencies.clients, CONNECTIONS);
    const watchers = await connect(firestore, latencies.clients);
    const billed = (isTally: boolean): Operations => {
      const invoked = isTally ? countInvocations() : { all: 0, aggregate: 0 };
      const sum = (item: keyof MeterReading["usage"]) =>
        writers.usage[item] + (isTally ? (functions as Connection).usage[item] : 0);
      return {
        ...{ read: sum("reads"), write: sum("writes"), delete: sum("deletes") },
        // Each task runs once, so it is counted when it runs.
        ...{ invocation: invoked.all, task: invoked.aggregate },
      };
    };
    return await use({ writers, watchers, governed, firestore, billed });
  };
  try {
    const functionsFirestore = async (firestore: string) => {
      functions = await connect(firestore, latencies.functions);
      return functions.addresses[0] as string;
    };
    return await withEmulators(run, { functionsFirestore });
  } finally {
    for (const proxy of proxies) proxy.close();
  }
}
