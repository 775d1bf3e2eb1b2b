/**
 * Traffic to simulate: how many increments per second at each time, of which counters, by how many clients. After its end
 * nothing is written while the functions settle, so that the bill is complete.
 */
import type { Random } from "../../core/src/index.ts";
import { randomFor } from "../../core/testing/random.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import { zipf } from "../../testkit/zipf.ts";
import type { Settings } from "./settings.ts";

export interface Audience {
  /** Clients of one counter at a time. */
  readonly clients: number;
  /** Increments that each makes before it leaves. */
  readonly perClient: number;
}

export interface Scenario {
  readonly name: string;
  /** How long there is traffic, and for how long the run goes on. */
  readonly lasts: Millis;
  readonly settles: Millis;
  /** What the bill and the measurements leave out at the beginning. */
  readonly warmUp: Millis;
  /** The length of the spans of time that are recorded. */
  readonly window: Millis;
  /** Where the traffic steps up, and until when it stays there. */
  readonly steps: readonly { readonly at: Millis; readonly until: Millis }[];
  /** Increments per second of all counters. */
  rate(now: Millis): number;
  /** The share of the first counter in them. */
  readonly share: number;
  /** The counter of the next increment. */
  counterOf(random: Random): number;
  readonly audience: Audience;
  readonly settings: Partial<Settings>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What scenarios of one counter have in common. */
const ONE = { counterOf: () => 0, share: 1, settings: {}, warmUp: 0, steps: [], window: SECOND / 2 } as const;

const number = (value: number) => value.toLocaleString("en-US");

const nameOf = ({ perClient }: Audience) => (perClient === 1 ? ", once each" : "");

/** From one increment a second to a crowd, in one step. Each client makes five, about once in ten seconds, within the limits of memory. */
export function flashCrowd(
  perSecond: number,
  lasts: Millis = 90 * SECOND,
  audience: Audience = { clients: Math.min(10 * perSecond, 100_000), perClient: 5 },
): Scenario {
  const at = 10 * SECOND;
  return {
    ...{ ...ONE, name: `flash crowd ${number(perSecond)}/s${nameOf(audience)}`, lasts, settles: 20 * MINUTE },
    steps: [{ at, until: lasts }],
    rate: (now) => (now < at ? 1 : perSecond),
    audience,
    // 10,000 shards, the maximum, cannot take ten times as many increments at one write per second each.
    settings: perSecond > 10_000 ? { maxShards: 10_000, perSecond: 20, burst: 20, longestWait: SECOND } : {},
  };
}

/** A new counter that has a steady rate from the start. */
export function newCounter(perSecond: number, audience: Audience): Scenario {
  const lasts = 3 * MINUTE;
  return {
    ...{ ...ONE, name: `new counter ${perSecond}/s, ${number(audience.clients)} clients`, lasts, settles: 0 },
    ...{ steps: [{ at: 0, until: lasts }], rate: () => perSecond, audience },
  };
}

/** A day in six hours: nearly silent at night, with a peak in the evening. */
function day(): Scenario {
  const lasts = 6 * HOUR;
  const peak = 60;
  return {
    ...{ ...ONE, name: "day", lasts, settles: 30 * MINUTE, window: 2 * MINUTE },
    rate: (now) => peak * Math.max(0.5 - 0.5 * Math.cos((2 * Math.PI * now) / lasts), 0.002) ** 2,
    audience: { clients: 500, perClient: 5 },
  };
}

/** Crowds that come and go. */
export function sawtooth(rush: Millis, silence: Millis, teeth: number, perSecond = 100): Scenario {
  const period = rush + silence;
  const starts = Array.from({ length: teeth }, (_, tooth) => tooth * period);
  return {
    ...{ ...ONE, name: `sawtooth ${rush / SECOND} s/${silence / SECOND} s` },
    ...{ lasts: teeth * period, settles: 20 * MINUTE },
    steps: starts.map((at) => ({ at, until: at + rush })),
    rate: (now) => (now % period < rush ? perSecond : 0),
    audience: { clients: 10 * perSecond, perClient: 5 },
  };
}

/** Ten thousand counters with one increment a minute, and one with 500 a second. */
function giant(): Scenario {
  const [counters, lasts, large] = [10_000, 4 * MINUTE, 500];
  const small = counters / 60;
  return {
    ...{ ...ONE, name: "many small, one giant", lasts, settles: 20 * MINUTE, window: SECOND },
    steps: [{ at: 0, until: lasts }],
    rate: () => small + large,
    share: large / (small + large),
    counterOf: (random) => (random() * (small + large) < large ? 0 : 1 + Math.floor(random() * counters)),
    audience: { clients: 5_000, perClient: 5 },
  };
}

/** A million counters whose popularity follows Zipf's law, 5,000 increments a second together. */
function million(): Scenario {
  const counters = 1_000_000;
  // In the same order whatever the seed of a run.
  const rank = zipf(counters, randomFor(1, "popularity"));
  return {
    ...{ ...ONE, name: "Zipf million", lasts: MINUTE, settles: 12 * MINUTE, window: SECOND, rate: () => 5_000 },
    ...{ share: 1 / (Math.log(counters) + 0.5772), counterOf: () => rank() - 1 },
    audience: { clients: 1, perClient: 1 },
  };
}

export const FEW_CLIENTS: Audience = { clients: 20, perClient: Number.POSITIVE_INFINITY };
/** Clients that increment once: pages that were just opened. */
export const ONCE_EACH: Audience = { clients: 1, perClient: 1 };
export const MANY_CLIENTS: Audience = { clients: 1_000, perClient: 5 };

/** A steady run has so many increments, but takes an hour at most. If these are fewer than the least, it goes on until it has those. */
const ENOUGH = 20_000;
const FEWEST = 1_800;

/** A young counter, whose every change is worth a publish, at a steady rate, from the second minute on. */
export function steady(perSecond: number, audience: Audience, lasts?: Millis): Scenario {
  const seconds = Math.min(ENOUGH / perSecond, Math.max(FEWEST / perSecond, 3_600));
  const measured = lasts ?? Math.max(seconds * SECOND, 3 * MINUTE);
  return {
    ...{ ...ONE, name: `${number(perSecond)}/s${nameOf(audience) || ` from ${number(audience.clients)} clients`}` },
    ...{ warmUp: 2 * MINUTE, lasts: measured + 2 * MINUTE, settles: 0, window: 10 * SECOND },
    ...{ rate: () => perSecond, audience, settings: { precision: 0 } },
  };
}

/** How large shards are on Enterprise, hour by hour, at a steady rate. */
function hours(perSecond: number): Scenario {
  // A million increments show as much as six times as many.
  const lasts = perSecond < 1_000 ? 6 * HOUR : HOUR;
  const scenario = steady(perSecond, MANY_CLIENTS, lasts);
  return { ...scenario, name: `hours at ${number(perSecond)}/s`, warmUp: 0, lasts, window: HOUR, settings: {} };
}

/** What a burst does to the shards of a calm counter, minute by minute: a minute of 200 increments a second. */
function burst(): Scenario {
  const [at, lasts] = [10 * MINUTE, 20 * MINUTE];
  return {
    ...{ ...ONE, name: "burst of 200/s at 1/s", lasts, settles: 0, window: MINUTE },
    rate: (now) => (now >= at && now < at + MINUTE ? 200 : 1),
    audience: MANY_CLIENTS,
  };
}

/** Counters that are incremented once. */
export function onceEach(counters = 100_000): Scenario {
  let next = 0;
  return {
    ...{ ...ONE, name: `${number(counters)} counters once each`, lasts: counters, settles: 6 * MINUTE, window: SECOND },
    ...{ rate: () => 1_000, share: 0, counterOf: () => next++, audience: { clients: 1, perClient: 1 } },
  };
}

const RATES = [0.5, 1, 10, 100, 1_000];

/** Made anew for each run, as some keep a state. */
export type Scenarios = ReadonlyMap<string, () => Scenario>;

/** Increments per second at which slow connections are compared with others. */
export const CONNECTION_RATES = [0.01, 0.1, 1, 10];

const byName = (all: readonly (() => Scenario)[]): Scenarios => new Map(all.map((create) => [create().name, create]));

/** Whose shards are measured on Enterprise. */
export const SHARD_SCENARIOS = byName([...[0.05, ...RATES].map((rate) => () => hours(rate)), burst]);

export const SCENARIOS = byName([
  () => flashCrowd(100),
  () => flashCrowd(1_000),
  () => flashCrowd(100_000, 30 * SECOND),
  ...[FEW_CLIENTS, MANY_CLIENTS].map((audience) => () => newCounter(100, audience)),
  day,
  () => sawtooth(2 * MINUTE, 2 * MINUTE, 8),
  giant,
  million,
  ...[FEW_CLIENTS, MANY_CLIENTS].flatMap((audience) => RATES.map((rate) => () => steady(rate, audience))),
  () => flashCrowd(1_000, undefined, ONCE_EACH),
  ...CONNECTION_RATES.map((rate) => () => steady(rate, ONCE_EACH)),
  () => onceEach(),
]);
