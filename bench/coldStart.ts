/**
 * What a cold start takes: CPU-seconds of fresh processes that import the built functions, or also handle their first event, against
 * a counter by hand (bareFunction.mjs). Both take turns, and a ratio is the median of those of pairs.
 *
 * The event is the creation of a shard, as JSON. It is handled against the emulator of Firestore, where Tally publishes the total.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { counter, incrementCounter } from "firestore-tally/admin";
import { COUNTING_DEFAULTS } from "../functions/src/deploy/parameters.ts";
import { adminAt } from "../testkit/clients.ts";
import { percentile } from "../testkit/statistics.ts";

export interface ColdStart {
  /** The function that the process runs, and what it does. */
  readonly function: string;
  readonly does: "import" | "import, first event";
  /** CPU-seconds. */
  readonly tally: number;
  readonly byHand: number;
  readonly ratio: number;
}

const MODULES = {
  tally: new URL("../functions/lib/index.js", import.meta.url).href,
  byHand: new URL("bareFunction.mjs", import.meta.url).href,
};
/** Pairs of processes, the first of which only fill the machine's file cache. */
const PAIRS = 12;
const WARM_UP = 2;

/** A project without functions, so that no other process handles the event. */
const PROJECT = "demo-cold-start";

/** @param progress  called with how far it is */
export async function measureColdStart(firestore: string, progress: (text: string) => void): Promise<ColdStart[]> {
  const results: ColdStart[] = [];
  for (const [name, does] of [
    ["shardcreated", "import"],
    ["shardcreated", "import, first event"],
    ["aggregate", "import"],
  ] as const) {
    progress(`${name}: ${does}`);
    const took = { tally: [] as number[], byHand: [] as number[] };
    for (let pair = 0; pair < PAIRS; pair++) {
      const order = ["tally", "byHand"] as const;
      for (const target of pair % 2 ? order : order.toReversed()) {
        const event = does === "import" ? undefined : await createShard(firestore, `${target} ${pair}`);
        const seconds = await cpuSeconds(MODULES[target], name, firestore, event);
        if (pair >= WARM_UP) took[target].push(seconds);
      }
    }
    const median = (seconds: readonly number[]) => percentile(seconds, 0.5);
    const ratio = median(took.tally.map((one, pair) => one / (took.byHand[pair] as number)));
    results.push({ function: name, does, tally: median(took.tally), byHand: median(took.byHand), ratio });
  }
  return results;
}

/** Makes the first increment of a counter. @returns its event */
async function createShard(firestore: string, id: string): Promise<object> {
  const admin = adminAt(firestore, PROJECT);
  await incrementCounter(counter(admin.firestore, id));
  const { docs } = await admin.firestore.collection(`counters/${id}/shards`).get();
  await admin.close();
  const document = docs[0]?.ref.path as string;
  const url = `http://${firestore}/v1/projects/${PROJECT}/databases/(default)/documents/${encodeURI(document)}`;
  const value = await (await fetch(url, { headers: { authorization: "Bearer owner" } })).json();
  const source = { project: PROJECT, database: "(default)", document };
  return { ...source, datacontenttype: "application/json", data: { value } };
}

async function cpuSeconds(module: string, name: string, firestore: string, event?: object): Promise<number> {
  const env = {
    ...{ ...process.env, ...COUNTING_DEFAULTS, GCLOUD_PROJECT: PROJECT, FIRESTORE_EMULATOR_HOST: firestore },
    ...{ FIREBASE_CONFIG: JSON.stringify({ projectId: PROJECT }), METADATA_SERVER_DETECTION: "none" },
    FUNCTION_TARGET: `tally.${name}`,
  };
  const args = [module, ...(event ? [JSON.stringify(event)] : [])];
  const child = fork(new URL("coldStartProcess.mjs", import.meta.url), args, { env, execArgv: [] });
  const [answer] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (typeof answer !== "object") throw new Error(`A process of ${module} ended with code ${answer}`);
  return (answer as { seconds: number }).seconds;
}
