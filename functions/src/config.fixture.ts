/** Configurations, and a counter, for tests. */
import fc from "fast-check";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { type Config, validConfig } from "./config.ts";
import type { Published } from "./counter.ts";

/** What a deployment has that keeps every default; `config.test.ts` says so. */
export const defaults: Config = {
  collection: "counters",
  minShards: 1,
  maxShards: MAX_SHARDS,
  writesPerShard: 1,
  shrinkCooldown: 600_000,
  minInterval: 1_000,
  maxInterval: 10_000,
  precision: 0.001,
  budget: 0.35,
  counted: undefined,
  mirrors: [],
  historyRetention: 30 * 86_400_000,
};

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const pair = (max: number) => fc.tuple(fc.integer({ min: 1, max }), fc.integer({ min: 1, max }));

/** Any configuration that is accepted. */
export const anyConfig: fc.Arbitrary<Config> = fc
  .record({
    shards: fc.oneof(pair(30), pair(MAX_SHARDS)),
    seconds: fc.oneof(pair(30), pair(3_600)),
    cooldownSeconds: fc.integer({ min: 1, max: 86_400 }),
    writesPerShard: number(0.01, 1_000),
    precision: number(0, 1),
    budget: number(0.001, 100),
  })
  .map(({ shards, seconds, cooldownSeconds, ...numbers }) =>
    validConfig({
      ...defaults,
      ...numbers,
      minShards: Math.min(...shards),
      maxShards: Math.max(...shards),
      minInterval: Math.min(...seconds) * 1_000,
      maxInterval: Math.max(...seconds) * 1_000,
      shrinkCooldown: cooldownSeconds * 1_000,
    }),
  );

/** A counter as an ordinary publish leaves it, with nobody writing any more. */
export const idle: Published = {
  total: 42,
  shardCount: 1,
  writes: 42,
  rate: 0,
  publishes: 7,
  asOf: 1_700_000_000_000,
  calmSince: null,
  growing: false,
  unsettled: false,
  silentShards: 0,
  shardDocuments: 1,
  busyMinute: false,
  malformed: [],
};

/** Any counter a publish may leave. */
export const anyCounter: fc.Arbitrary<Published> = fc.record({
  total: fc.double({ noNaN: true, noDefaultInfinity: true }),
  shardCount: fc.integer({ min: 1, max: MAX_SHARDS }),
  writes: fc.maxSafeNat(),
  rate: fc.oneof(number(0, 5), number(0, 1e6)),
  publishes: fc.nat(),
  asOf: fc.integer({ min: 0, max: 4e12 }),
  calmSince: fc.option(fc.integer({ min: 0, max: 4e12 })),
  growing: fc.boolean(),
  unsettled: fc.boolean(),
  silentShards: fc.integer({ min: 0, max: MAX_SHARDS }),
  shardDocuments: fc.integer({ min: 0, max: MAX_SHARDS }),
  busyMinute: fc.boolean(),
  malformed: fc.array(fc.string(), { maxLength: 2 }),
});
