/** What `--set` changes: the functions' configuration as it deploys, what users do, and figures of `testkit/production`. */

import { type CounterConfig, type Millis, settingsOn } from "../../functions/src/decisions.ts";
import { DEFAULT_CONFIG } from "../../functions/src/deploy/defaultConfig.ts";
import { BACKEND_LATENCY, CALL_LATENCY } from "../../testkit/production/calls.ts";
import { ABORTED_AFTER, WRITE_LIMITS, type WriteLimits } from "../../testkit/production/contention.ts";
import { EVENT_LATENCY } from "../../testkit/production/events.ts";
import { TASK_LATENCY } from "../../testkit/production/tasks.ts";

const numbers = Object.entries(DEFAULT_CONFIG).filter(([, value]) => typeof value === "number");

/** When commits begin to be slow. Before that there is traffic. */
export const SLOW_COMMITS_AT: Millis = 120_000;

const ASSUMPTIONS = {
  /** A user whose increment is not acknowledged leaves after this time; the increment is not retried. */
  abandonAfter: 60_000,
  /** The share of clients that watch the counter, and so know its shard count. */
  watching: 0,
  /** 1: clients write the document of a calm counter; 0: shards alone. */
  direct: 1,
  /** 1: the Enterprise edition, with its shard counts, units and prices in us-central1; 0: Standard in nam5. */
  enterprise: 0,
  /** 1: the index of `shards` is deployed; 0: a measurement of more than a few shards lists them. */
  index: 1,
  refusedAfter: ABORTED_AFTER,
  /** From a client's write to its acknowledgement, if the document does not make it wait; also a client's read. */
  ackLatency: 2 * CALL_LATENCY.clients,
  /** The share of clients whose connection is slow, and what a request takes there. */
  slow: 0,
  roundTrip: 1_500,
  /** The share of clients whose first read and first write take two round trips: one for TLS or a preflight. */
  cold: 0,
  /** The share of clients whose requests take one to five times as long, each another time. */
  jittery: 0,
  /** The share of clients whose messages are lost with a probability of `loss`, and sent again a second later. */
  lossy: 0,
  loss: 0.1,
  /** For how long all commits are slow: each takes a random time up to `slowestCommit`, and a fifth of that at least. */
  slowCommitsFor: 0,
  slowestCommit: 10_000,
  /** How many instances of the functions share the events. */
  instances: 1,
  eventLatency: EVENT_LATENCY,
  taskLatency: TASK_LATENCY,
  backendLatency: BACKEND_LATENCY,
  /** How much longer an aggregation takes for each 1,000 index entries that moved within the last hour. */
  aggregationSlowdown: 0,
};

type NumbersOf<Type> = { readonly [Key in keyof Type as Type[Key] extends number ? Key : never]: Type[Key] };

export type Settings = NumbersOf<CounterConfig> & Readonly<typeof ASSUMPTIONS> & WriteLimits;

export const SETTINGS: Settings = {
  ...(Object.fromEntries(numbers) as NumbersOf<CounterConfig>),
  ...WRITE_LIMITS,
  ...ASSUMPTIONS,
};

/** The configuration for the functions' decisions. */
export function configOf(settings: Settings): CounterConfig {
  return { ...DEFAULT_CONFIG, ...settings, direct: settings.direct > 0 };
}

/**
 * Settings with some changed, each given as `name=value`.
 *
 * @throws Error if a setting does not exist, or its value is not a number from 0 on
 */
export function withSettings(texts: readonly string[], settings: Settings = SETTINGS): Settings {
  const chosen: Record<string, number> = { ...settings };
  for (const text of texts) {
    const [name = "", value = ""] = text.split("=");
    if (!Object.hasOwn(SETTINGS, name))
      throw new Error(`--set ${text}: choose from ${Object.keys(SETTINGS).join(", ")}`);
    if (!(Number(value) >= 0) || value === "") throw new Error(`--set ${text}: a value is a number from 0 on`);
    chosen[name] = Number(value);
  }
  const all = chosen as unknown as Settings;
  return {
    ...all,
    writesPerShard: settingsOn(all.enterprise > 0 ? "enterprise" : "standard", configOf(all)).writesPerShard,
  };
}
