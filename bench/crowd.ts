/**
 * A crowd that finds everything cold: a suite that was just started, a new counter, and clients of which none has connected
 * yet. Each increments in turn, at its time, however long other increments take.
 *
 * Beside it the floor: the same clients at the same times on another suite just started, each with a bare write to a
 * document of its own, in a project that no function watches. What Tally takes longer than that is Tally's.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Firestore } from "@google-cloud/firestore";
import { PROJECT } from "../testkit/emulators/firebase.ts";
import type { Packaging } from "../testkit/emulators/project.ts";
import { loadRules } from "../testkit/rules.ts";
import { type Millis, type Percentiles, percentilesOf } from "../testkit/statistics.ts";
import type { WriteLimits } from "../testkit/writeLimiter.ts";
import { arrivals } from "./loads.ts";
import { type Latencies, startPlain, startRig } from "./rig.ts";
import { runOn } from "./runOn.ts";
import { epochNow, Writers } from "./writers.ts";

export interface Crowd {
  readonly clients: number;
  /** Increments of all clients together. */
  readonly perSecond: number;
  readonly seconds: number;
  readonly packaging: Packaging;
  /** With a governor in front of Firestore, if these are given. */
  readonly governed: { readonly limits: WriteLimits; readonly latencies: Latencies } | undefined;
}

/** Over what the increments are spread. */
export interface Spread {
  /** The published shard count; 1 before the first publish, as clients assume. */
  readonly shardCount: number;
  readonly documents: number;
}

export interface CrowdTrial {
  readonly who: "tally" | "floor";
  readonly crowd: Crowd;
  readonly offered: number;
  readonly acknowledged: number;
  /** The sum of the documents. */
  readonly counted: number;
  /** From the first increment to the last acknowledgement. */
  readonly lastAcknowledged: Millis;
  readonly acknowledgement: Percentiles;
  /** 8 seconds after the first increment, and when all had been acknowledged. */
  readonly early: Spread;
  readonly end: Spread;
  /** Codes of rejections, and how many there were. */
  readonly errors: Readonly<Record<string, number>>;
  /** How late the increments were made: what the machine could not do. */
  readonly lateness: Percentiles;
}

const ID = "bench:crowd";
const OPEN_PROJECT = "demo-open";
const OPEN_RULES = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";

const EARLY: Millis = 8_000;
/** How long acknowledgements may take. */
const PATIENCE: Millis = 120_000;
/** For writes that arrive again after their acknowledgement. */
const SETTLING: Millis = 2_000;

export async function measureCrowd(who: CrowdTrial["who"], crowd: Crowd): Promise<CrowdTrial> {
  return await runOn(
    (signal) => startCold(crowd, signal),
    ({ addresses }) => run(who, crowd, addresses),
  );
}

async function startCold({ packaging, governed }: Crowd, signal: AbortSignal) {
  if (governed) {
    const rig = await startRig(governed.limits, governed.latencies, signal, packaging);
    return { addresses: rig.writers.addresses, stop: rig.stop };
  }
  const { emulator, stop } = await startPlain(signal, packaging);
  return { addresses: [emulator], stop };
}

async function run(who: CrowdTrial["who"], crowd: Crowd, addresses: readonly string[]): Promise<CrowdTrial> {
  const { clients, perSecond, seconds } = crowd;
  const [project, path] = who === "tally" ? [PROJECT, `counters/${ID}/shards`] : [OPEN_PROJECT, "floor"];
  if (who === "floor") await loadRules(OPEN_PROJECT, OPEN_RULES);
  const writers = await Writers.start({
    ...{ contender: who, ids: [ID], addresses, project, clients, mostClients: clients, areCold: true },
    arrivals: arrivals({ before: { perSecond: 0, seconds: 0 }, measured: { perSecond, seconds } }),
  });
  const admin = new Firestore({ projectId: project });
  const spread = async (): Promise<Spread> => {
    const [counter, documents] = await Promise.all([
      admin.doc(`counters/${ID}`).get(),
      admin.collection(path).count().get(),
    ]);
    return { shardCount: counter.get("shardCount") ?? 1, documents: documents.data().count };
  };
  const start = epochNow() + 100;
  writers.begin(start);
  await sleep(100 + EARLY);
  const early = await spread();
  await sleep(Math.max(start + seconds * 1_000 - epochNow(), 0));
  while ((await writers.pending()) > 0 && epochNow() < start + PATIENCE) await sleep(100);
  const { samples, errors, lateness } = await writers.stop();
  await sleep(SETTLING);
  const { docs } = await admin.collection(path).get();
  const end = await spread();
  await admin.terminate();

  const took = samples.map(({ intended, acknowledged }) => acknowledged - intended);
  const instants = samples.map(({ acknowledged }) => acknowledged).filter(Number.isFinite);
  return {
    who,
    crowd,
    offered: samples.length,
    acknowledged: instants.length,
    counted: docs.reduce((sum, document) => sum + (document.get("count") ?? 0), 0),
    lastAcknowledged: Math.max(...instants) - start,
    acknowledgement: percentilesOf(took),
    ...{ early, end, errors },
    lateness: percentilesOf(lateness),
  };
}
