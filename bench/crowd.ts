/**
 * A crowd that finds everything cold: emulators that have just started, a new counter, and clients that have not connected
 * yet. The clients increment in turns, each increment when it is due, however long others take.
 *
 * The floor is the same on emulators of its own: the same clients at the same times, each with a bare write to a document of
 * its own, in a project without functions. Tally's own share is what it takes longer than that.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Firestore } from "@google-cloud/firestore";
import { PROJECT } from "../testkit/emulators/firebase.ts";
import { loadRules } from "../testkit/rules.ts";
import { type Millis, type Percentiles, percentilesOf } from "../testkit/statistics.ts";
import { dueTimes } from "./loads.ts";
import { type Conditions, withEmulators, withMeteredEmulators } from "./meteredEmulators.ts";
import { epochNow, Writers } from "./writers.ts";

export interface Crowd {
  readonly clients: number;
  /** Increments of all clients together. */
  readonly perSecond: number;
  /** Whether the governor is in front of Firestore. */
  readonly isGoverned: boolean;
  /** Whether the clients watch the counter. */
  readonly isWatching: boolean;
}

/** The crowds that are measured, each so many times. */
export const RUNS = 3;
export const CROWDS: readonly Crowd[] = [
  { isGoverned: false, isWatching: false },
  { isGoverned: true, isWatching: false },
  { isGoverned: true, isWatching: true },
].flatMap((condition) => [
  { clients: 150, perSecond: 100, ...condition },
  { clients: 300, perSecond: 300, ...condition },
]);

export interface CrowdResult extends Crowd {
  readonly target: "tally" | "floor";
  readonly offered: number;
  readonly acknowledged: number;
  /** The sum of the increments. */
  readonly counted: number;
  /** From the first increment to the last acknowledgement. */
  readonly lastAcknowledged: Millis;
  readonly acknowledgement: Percentiles;
  /** Documents, {@link SECONDS} after the first increment. */
  readonly shardsAt8s: number;
  readonly errors: Readonly<Record<string, number>>;
  /** How late the increments were made: what the machine could not do. */
  readonly lateness: Percentiles;
}

/** How long the clients increment. */
const SECONDS = 8;
const ID = "bench:crowd";
const FLOOR_PROJECT = "demo-floor";
const FLOOR_RULES = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";

/** How long acknowledgements may take. */
const TIMEOUT: Millis = 120_000;
/** For writes that arrive again after their acknowledgement. */
const SETTLING: Millis = 2_000;

/** @param conditions  of the governor */
export async function measureCrowd(
  target: CrowdResult["target"],
  crowd: Crowd,
  conditions: Conditions,
): Promise<CrowdResult> {
  return crowd.isGoverned
    ? await withMeteredEmulators(conditions, ({ writers }) => measure(target, crowd, writers.addresses))
    : await withEmulators((firestore) => measure(target, crowd, [firestore]));
}

async function measure(
  target: CrowdResult["target"],
  crowd: Crowd,
  addresses: readonly string[],
): Promise<CrowdResult> {
  const { clients, perSecond, isWatching } = crowd;
  const path = target === "tally" ? `counters/${ID}/shards` : "floor";
  // The functions are those of one project.
  const project = target === "floor" ? FLOOR_PROJECT : PROJECT;
  if (target === "floor") await loadRules(FLOOR_PROJECT, FLOOR_RULES);
  const writers = await Writers.start({
    ...{ approach: target, ids: [ID], addresses, project, clients, maxClients: clients },
    ...{ areCold: true, areWatching: isWatching },
    dueTimes: dueTimes({ before: { perSecond: 0, seconds: 0 }, measured: { perSecond, seconds: SECONDS } }),
  });
  const admin = new Firestore({ projectId: project });
  const start = epochNow() + 100;
  writers.begin(start);
  await sleep(start + SECONDS * 1_000 - epochNow());
  const shardsAt8s = (await admin.collection(path).count().get()).data().count;
  while ((await writers.pending()) > 0 && epochNow() < start + TIMEOUT) await sleep(100);
  const { samples, errors, lateness } = await writers.stop();
  await sleep(SETTLING);
  const { docs } = await admin.collection(path).get();
  const direct: number = (await admin.doc(`counters/${ID}`).get()).get("direct.count") ?? 0;
  await admin.terminate();

  const instants = samples.map(({ acknowledged }) => acknowledged).filter(Number.isFinite);
  return {
    ...{ target, ...crowd },
    ...{ offered: samples.length, acknowledged: instants.length },
    counted: docs.reduce((sum, document) => sum + (document.get("count") ?? 0), direct),
    lastAcknowledged: Math.max(...instants) - start,
    acknowledgement: percentilesOf(samples.map(({ intended, acknowledged }) => acknowledged - intended)),
    ...{ shardsAt8s, errors },
    lateness: percentilesOf(lateness),
  };
}
