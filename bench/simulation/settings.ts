/**
 * Everything that can be varied, with its default: the backend's configuration, the constants of its policy, the clients',
 * and what is assumed of the world. Names and defaults of the configuration are those that deploy.
 */
import { DEFAULTS } from "../../client/src/cli/costs.ts";
import type { Config, Millis } from "../../functions/src/config.ts";
import type { HotDocuments } from "./shard.ts";

/** What `functions/src` keeps as constants; a test holds the defaults against its decisions. */
export interface Policy {
  /** How many times the shards it has a growing counter gets at least. */
  readonly growthFactor: number;
  /** How many times the shards that are needed it gets. */
  readonly headroom: number;
  /** Above this share of its capacity a counter grows. */
  readonly busy: number;
  /** A counter is calm below this share of its capacity. */
  readonly calm: number;
  /** How long nobody must have written for a counter to shrink before it has cooled down. */
  readonly idle: Millis;
  /** By how many standard deviations the writes of an interval must be above what is noise for the counter to grow. */
  readonly noise: number;
  /** 1: what wakes a new or sleeping counter makes it grow by how much there is at once. */
  readonly firstRate: number;
  /** 1: a counter that has just grown is measured again after the shortest interval. */
  readonly hurry: number;
  /** How long after it has grown a calm counter may be one whose writers have not found the new shards yet. */
  readonly settling: Millis;
}

/** What `client/src` keeps as constants, and how it goes about what it does not know. */
export interface Clients {
  /** How many times the shard count a client spreads over while its writes are slow. */
  readonly widest: number;
  /** 1: a write is slow when it has waited for a second; 0: when it is acknowledged after more than a second. */
  readonly noticesWaiting: number;
  /** 1: a client in strong doubt reads the shard count before its next increment; 0: beside it, but for the first. */
  readonly asksFirst: number;
  /** 1: what a client heard of a counter that had just grown is in doubt. */
  readonly doubtsGrowth: number;
  /** After how long people leave whose increment is not acknowledged: it is not tried again. */
  readonly patience: Millis;
  /** The share of clients that watch the counter, and so know its shard count at once. */
  readonly watching: number;
}

/** How long things take. */
export interface Latencies {
  /** From a client's write to its acknowledgement, if it does not wait for its document; also a client's read. */
  readonly ackLatency: Millis;
  /** From a commit to the function that it triggers. */
  readonly eventLatency: Millis;
  /** From the due time of a task to its run. */
  readonly taskLatency: Millis;
  /** A read of the functions, and a write. */
  readonly backendLatency: Millis;
}

type Numbers<T> = { readonly [K in keyof T as T[K] extends number ? K : never]: T[K] };

export type Settings = Numbers<Config> & Policy & Clients & HotDocuments & Latencies;

const { collection: _, counted: __, mirrors: ___, ...config } = DEFAULTS;

export const SETTINGS: Settings = {
  ...config,
  growthFactor: 1.5,
  headroom: 1.5,
  busy: 0.8,
  calm: 0.35,
  idle: 60_000,
  noise: 1.3,
  firstRate: 1,
  hurry: 1,
  settling: 10_000,
  widest: 2,
  noticesWaiting: 1,
  asksFirst: 1,
  doubtsGrowth: 1,
  patience: 60_000,
  watching: 0,
  sustained: 1,
  burst: 10,
  longestQueue: 10,
  ackLatency: 50,
  eventLatency: 200,
  taskLatency: 100,
  backendLatency: 30,
};

/** What was different before crowds were absorbed. */
export const BEFORE: readonly string[] = [
  "headroom=1",
  "busy=1.25",
  "calm=0.5",
  "noise=0",
  "firstRate=0",
  "hurry=0",
  "noticesWaiting=0",
  "asksFirst=0",
  "doubtsGrowth=0",
  "maxShards=1000",
  "budget=0.25",
];

/** The configuration that the functions' decisions take. */
export function configOf(settings: Settings): Config {
  const config = configs.get(settings) ?? { ...DEFAULTS, ...settings };
  configs.set(settings, config);
  return config;
}

const configs = new WeakMap<Settings, Config>();

/**
 * Settings as `name=value`, over others.
 *
 * @throws Error if there is no such setting, or the value is not a number from 0 on
 */
export function withSettings(texts: readonly string[], settings: Settings = SETTINGS): Settings {
  const chosen: Record<string, number> = { ...settings };
  for (const text of texts) {
    const [name = "", value = ""] = text.split("=");
    if (!Object.hasOwn(SETTINGS, name))
      throw new Error(`--set ${text}: there is no setting "${name}". There are: ${Object.keys(SETTINGS).join(", ")}`);
    if (!(Number(value) >= 0) || value === "") throw new Error(`--set ${text}: a value is a number from 0 on`);
    chosen[name] = Number(value);
  }
  return chosen as unknown as Settings;
}
