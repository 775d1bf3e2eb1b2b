/**
 * A crowd that finds everything cold: emulators that have just started, a new counter, and clients that have not connected
 * yet. The clients increment in turns, each increment when it is due, however long others take.
 *
 * The floor is the same on emulators of its own: the same clients at the same times, each with a bare write to a document of
 * its own, in a project without functions. Tally's own share is what it takes longer than that.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Firestore } from "@google-cloud/firestore";
import type { Edition } from "../functions/src/decisions.ts";
import { PROJECT } from "../testkit/emulators/firebase.ts";
import type { Packaging } from "../testkit/emulators/project.ts";
import { loadRules, OPEN_RULES } from "../testkit/rules.ts";
import { type Millis, type Percentiles, percentilesOf } from "../testkit/statistics.ts";
import { dueTimes } from "./loads.ts";
import { type Conditions, withEmulators, withMeteredEmulators } from "./meteredEmulators.ts";
import { epochNow, Writers } from "./writers.ts";

/** Tally without its functions, which shows what they take. Clients increment as ever, and shards hold the counts. */
export const BARE = "no functions";

export interface Crowd {
  readonly clients: number;
  /** Increments of all clients together. */
  readonly perSecond: number;
  readonly seconds: number;
  readonly packaging: Packaging | typeof BARE;
  /** The functions' `EDITION`. Default: standard */
  readonly edition?: Edition;
  /** Whether the clients watch the counter. */
  readonly isWatching?: boolean;
  /** With the governor in front of Firestore, if given. */
  readonly governed: Conditions | undefined;
}

export interface CrowdResult extends Omit<Crowd, "governed"> {
  readonly target: "tally" | "floor";
  readonly isGoverned: boolean;
  readonly offered: number;
  readonly acknowledged: number;
  /** The sum of the increments. */
  readonly counted: number;
  /** From the first increment to the last acknowledgement. */
  readonly lastAcknowledged: Millis;
  readonly acknowledgement: Percentiles;
  /** Documents, 8 seconds after the first increment. */
  readonly shardsAt8s: number;
  readonly errors: Readonly<Record<string, number>>;
  /** How late the increments were made: what the machine could not do. */
  readonly lateness: Percentiles;
}

const ID = "bench:crowd";
const FLOOR_PROJECT = "demo-floor";
const FLOOR_RULES = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";

/** How long acknowledgements may take. */
const TIMEOUT: Millis = 120_000;
/** For writes that arrive again after their acknowledgement. */
const SETTLING: Millis = 2_000;

export async function measureCrowd(target: CrowdResult["target"], crowd: Crowd): Promise<CrowdResult> {
  const { governed, edition = "standard" } = crowd;
  const params = { EDITION: edition };
  const packaging = crowd.packaging === BARE ? "plain" : crowd.packaging;
  return governed
    ? await withMeteredEmulators(
        governed,
        packaging,
        ({ writers }) => measure(target, crowd, writers.addresses),
        params,
      )
    : await withEmulators(packaging, (firestore) => measure(target, crowd, [firestore]), { params });
}

async function measure(
  target: CrowdResult["target"],
  crowd: Crowd,
  addresses: readonly string[],
): Promise<CrowdResult> {
  const { governed, ...described } = crowd;
  const { clients, perSecond, seconds, packaging, isWatching = false } = crowd;
  const path = target === "tally" ? `counters/${ID}/shards` : "floor";
  // The functions are those of one project.
  const project = target === "floor" || packaging === BARE ? FLOOR_PROJECT : PROJECT;
  if (project === FLOOR_PROJECT) await loadRules(FLOOR_PROJECT, target === "tally" ? OPEN_RULES : FLOOR_RULES);
  const writers = await Writers.start({
    ...{ approach: target, ids: [ID], addresses, project, clients, maxClients: clients },
    ...{ areCold: true, areWatching: isWatching },
    dueTimes: dueTimes({ before: { perSecond: 0, seconds: 0 }, measured: { perSecond, seconds } }),
  });
  const admin = new Firestore({ projectId: project });
  const start = epochNow() + 100;
  writers.begin(start);
  await sleep(start + 8_000 - epochNow());
  const shardsAt8s = (await admin.collection(path).count().get()).data().count;
  await sleep(Math.max(start + seconds * 1_000 - epochNow(), 0));
  while ((await writers.pending()) > 0 && epochNow() < start + TIMEOUT) await sleep(100);
  const { samples, errors, lateness } = await writers.stop();
  await sleep(SETTLING);
  const { docs } = await admin.collection(path).get();
  const direct: number = (await admin.doc(`counters/${ID}`).get()).get("direct.count") ?? 0;
  await admin.terminate();

  const instants = samples.map(({ acknowledged }) => acknowledged).filter(Number.isFinite);
  return {
    ...{ target, ...described, isGoverned: governed !== undefined },
    ...{ offered: samples.length, acknowledged: instants.length },
    counted: docs.reduce((sum, document) => sum + (document.get("count") ?? 0), direct),
    lastAcknowledged: Math.max(...instants) - start,
    acknowledgement: percentilesOf(samples.map(({ intended, acknowledged }) => acknowledged - intended)),
    ...{ shardsAt8s, errors },
    lateness: percentilesOf(lateness),
  };
}
