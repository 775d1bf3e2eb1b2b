/**
 * What can be varied, with its default: the parameters of the backend's configuration, as they deploy, and what is assumed
 * of the world.
 */
import { DEFAULT_CONFIG } from "../../costs/src/index.ts";
import type { Config, Millis } from "../../functions/src/decisions.ts";
import type { HotDocuments } from "./shard.ts";

/** The people and the project. */
export interface Assumptions {
  /** After how long people leave whose increment is not acknowledged: it is not tried again. */
  readonly patience: Millis;
  /** The share of clients that watch the counter, and so know its shard count at once. */
  readonly watching: number;
  /** 1: the index of `shards` is deployed; 0: every measurement of more than a few shards lists them. */
  readonly index: number;
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

export type Settings = Numbers<Config> & Assumptions & HotDocuments & Latencies;

const { collection: _, counted: __, mirrors: ___, ...config } = DEFAULT_CONFIG;

export const SETTINGS: Settings = {
  ...config,
  patience: 60_000,
  watching: 0,
  index: 1,
  sustained: 1,
  burst: 10,
  longestQueue: 10,
  refusedAfter: 2_000,
  ackLatency: 50,
  eventLatency: 200,
  taskLatency: 100,
  backendLatency: 30,
};

/** The configuration that the functions' decisions take. */
export function configOf(settings: Settings): Config {
  return { ...DEFAULT_CONFIG, ...settings };
}

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
