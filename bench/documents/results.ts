/** The recorded results, as whoever shows them wants them. */
import { readFileSync } from "node:fs";
import type { ContenderName } from "../contenders.ts";
import type { Results } from "../report.ts";
import type { Run } from "./simulated.ts";

export interface Recorded extends Results {
  readonly measuredAt: string;
  readonly machine: { readonly cores: number; readonly cpu: string; readonly node: string };
  readonly versions: Readonly<Record<string, string>>;
}

/** A simulated run. */
export interface Simulated extends Run {
  readonly timeline: readonly {
    readonly at: number;
    readonly offered: number;
    readonly committed: number;
    readonly shardCount: number;
  }[];
}

/** As people call them. Their code is not imported here: it wants Firebase, and the client built. */
export const TITLES: Readonly<Record<ContenderName, string>> = {
  single: "one document",
  recipe: "10 fixed shards",
  tally: "Tally",
};

/** A load as people write it. */
export function loadTitle(load: string): string {
  return load.replace(/\d{4,}/g, (number) => Number(number).toLocaleString("en-US"));
}

const RESULTS = new URL("../results/", import.meta.url);

/** What took for ever is `null` in the file, and `Infinity` here. */
export function readBench(file = new URL("bench.json", RESULTS)): Recorded {
  return JSON.parse(readFileSync(file, "utf8"), (_, value) => value ?? Number.POSITIVE_INFINITY);
}

/** A load that the machine can carry only in slow motion. */
export function readSlow(): Recorded {
  return readBench(new URL("slow.json", RESULTS));
}

/** Freshness by rate. */
export function readFreshness(): Recorded {
  return readBench(new URL("freshness.json", RESULTS));
}

/** Cold crowds. */
export function readCrowds(): Recorded {
  return readBench(new URL("crowd.json", RESULTS));
}

/** Every trace, and steady rates. */
export function readSimulated(file = new URL("simulate.json", RESULTS)): {
  readonly traces: readonly Simulated[];
  readonly rates: readonly Run[];
} {
  return JSON.parse(readFileSync(file, "utf8"));
}
