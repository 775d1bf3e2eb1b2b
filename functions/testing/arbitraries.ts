/** Configurations, and a counter, for tests. */

import fc from "fast-check";
import { eachWindow, MAX_SHARDS } from "../../core/src/index.ts";
import { MAX_TASK_DELAY } from "../src/counter/cause.ts";
import { PHASES } from "../src/counter/phase.ts";
import type { CorePublished, CounterConfig, Published } from "../src/counter/types.ts";
import { DEFAULT_CONFIG } from "../src/deploy/defaultConfig.ts";
import { parseConfig } from "../src/deploy/parameters.ts";

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const pair = (max: number) => fc.tuple(fc.integer({ min: 1, max }), fc.integer({ min: 1, max }));

/** Any configuration that is accepted. */
export const anyConfig: fc.Arbitrary<CounterConfig> = fc
  .record({
    shards: fc.oneof(pair(30), pair(MAX_SHARDS)),
    seconds: fc.oneof(pair(30), pair(MAX_TASK_DELAY / 1_000)),
    cooldownSeconds: fc.oneof(fc.integer({ min: 120, max: 600 }), fc.integer({ min: 120, max: 86_400 })),
    writesPerShard: number(0.01, 1_000),
    precision: number(0, 1),
  })
  .map(({ shards, seconds, cooldownSeconds, ...numbers }) => ({
    ...DEFAULT_CONFIG,
    ...parseConfig({
      MIN_SHARDS: Math.min(...shards),
      MAX_SHARDS: Math.max(...shards),
      MIN_INTERVAL_SECONDS: Math.min(...seconds),
      MAX_INTERVAL_SECONDS: Math.max(...seconds),
      SHRINK_COOLDOWN_SECONDS: cooldownSeconds,
      WRITES_PER_SHARD: numbers.writesPerShard,
      PRECISION: numbers.precision,
    }),
  }));

/** A counter after an ordinary publish, without further writes, as far as the core goes. */
export const coreIdle: CorePublished = {
  total: 42,
  directCount: 0,
  shardCount: 1,
  writes: 42,
  rate: 0,
  amountRate: 0,
  publishes: 7,
  asOf: 1_700_000_000_000,
  growing: false,
  phase: "idle",
  nextPollAt: null,
  calmSince: null,
  unusedSince: null,
  shardDocuments: 1,
  slowSince: null,
  malformedShards: [],
  collectionCount: null,
};

/** The same with what features have in it. */
export const idle: Published = {
  ...coreIdle,
  ...{ history: { hasMinute: false }, windows: null, stock: null },
  ...{ adopted: { oldWrites: 0 }, regions: { exchangeAt: undefined } },
};

/** Any counter that a publish may leave, as far as the core goes. */
export const anyCorePublished: fc.Arbitrary<CorePublished> = fc
  .record({
    total: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    shardCount: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: MAX_SHARDS })),
    writes: fc.maxSafeNat(),
    rate: fc.oneof(fc.constant(0), number(0, 5), number(0, 1e6)),
    amountRate: fc.oneof(fc.constant(0), number(0, 1e6)),
    publishes: fc.nat(),
    asOf: fc.integer({ min: 1e12, max: 4e12 }),
    growing: fc.boolean(),
    phase: fc.constantFrom(...PHASES),
    polledAfter: fc.integer({ min: 1, max: MAX_TASK_DELAY }),
    calmFor: fc.option(fc.nat(86_400_000)),
    unusedFor: fc.option(fc.nat(86_400_000)),
    shardDocuments: fc.oneof(fc.nat(6), fc.integer({ min: 0, max: MAX_SHARDS })),
    slowSince: fc.option(fc.integer({ min: 1e12, max: 4e12 })),
    malformedShards: fc.array(fc.string(), { maxLength: 2 }),
    collectionCount: fc.constant(null),
  })
  .map(({ polledAfter, calmFor, unusedFor, ...counter }) => ({
    ...counter,
    directCount: 0,
    nextPollAt: counter.phase === "idle" ? null : counter.asOf + polledAfter,
    calmSince: calmFor === null ? null : counter.asOf - calmFor,
    unusedSince: unusedFor === null ? null : counter.asOf - unusedFor,
  }));

const anyCount = fc.record({ until: fc.integer({ min: 1e12, max: 4e12 }), total: fc.integer() });

/** The same with what features have in it. */
export const anyCounter: fc.Arbitrary<Published> = fc
  .record({
    core: anyCorePublished,
    history: fc.record({ hasMinute: fc.boolean() }),
    windows: fc.option(fc.record({ timeZone: fc.string(), ...eachWindow(() => anyCount) })),
  })
  .map(({ core, ...features }) => ({
    ...core,
    ...features,
    ...{ stock: null, adopted: { oldWrites: 0 }, regions: { exchangeAt: undefined } },
  }));
