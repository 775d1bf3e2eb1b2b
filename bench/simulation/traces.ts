/**
 * Traffic to simulate: how many increments per second at each time, of which counters, by how many clients.
 *
 * Each has an end, and a silence after it in which the backend settles, so that the bill has everything in it.
 */
import type { Random } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import { zipf } from "./draw.ts";
import type { Audience } from "./population.ts";
import type { Settings } from "./settings.ts";

export interface Trace {
  readonly name: string;
  readonly about: string;
  /** How long there is traffic. */
  readonly lasts: Millis;
  /** How long it is watched after that. */
  readonly settles: Millis;
  /** What the bill and the staleness leave out at the beginning. */
  readonly warmUp: Millis;
  /** What is recorded of time is of windows of this length. */
  readonly window: Millis;
  /** Where the traffic steps up, and until when it stays there. */
  readonly steps: readonly { readonly at: Millis; readonly until: Millis }[];
  /** Increments per second, of all counters. */
  rate(now: Millis): number;
  /** The share of them that are the first counter's. */
  readonly share: number;
  /** Which counter the next increment is of. */
  counterOf(random: Random): number;
  readonly audience: Audience;
  readonly settings: Partial<Settings>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const ONE = { counterOf: () => 0, share: 1, settings: {}, warmUp: 0, steps: [] } as const;

/** From one increment a second to a crowd, in one step. */
export function flashCrowd(perSecond: number, lasts: Millis = 90 * SECOND): Trace {
  const at = 10 * SECOND;
  return {
    ...ONE,
    name: `flash crowd ${perSecond.toLocaleString("en")}/s`,
    about: `10 s at 1/s, then ${perSecond.toLocaleString("en")}/s in one step`,
    lasts,
    settles: 20 * MINUTE,
    window: 500,
    steps: [{ at, until: lasts }],
    rate: (now) => (now < at ? 1 : perSecond),
    // Each about once in ten seconds, but not more than memory holds.
    audience: { clients: Math.min(10 * perSecond, 100_000), perClient: 5 },
    // A counter has 10,000 shards at most. At one write a second of each, nothing absorbs ten times as many.
    settings: perSecond > 10_000 ? { maxShards: 10_000, sustained: 20, burst: 20, longestQueue: 20 } : {},
  };
}

/** A counter that is new, and at once has a steady rate. */
export function fresh(perSecond: number, audience: Audience): Trace {
  const lasts = 3 * MINUTE;
  const many = audience.clients.toLocaleString("en");
  return {
    ...ONE,
    name: `new counter ${perSecond}/s, ${many} clients`,
    about: `${perSecond}/s at once from ${many} clients`,
    lasts,
    settles: 0,
    window: 500,
    steps: [{ at: 0, until: lasts }],
    rate: () => perSecond,
    audience,
  };
}

/** A day in six hours: next to nothing at night, a peak in the evening. */
function day(): Trace {
  const lasts = 6 * HOUR;
  const peak = 60;
  return {
    ...ONE,
    name: "day",
    about: `a day in six hours, up to ${peak}/s`,
    lasts,
    settles: 30 * MINUTE,
    window: 2 * MINUTE,
    rate: (now) => peak * Math.max(0.5 - 0.5 * Math.cos((2 * Math.PI * now) / lasts), 0.002) ** 2,
    audience: { clients: 500, perClient: 5 },
  };
}

/** Crowds that come and go. */
export function sawtooth(rush: Millis, silence: Millis, teeth: number, perSecond = 100): Trace {
  const period = rush + silence;
  return {
    ...ONE,
    name: `sawtooth ${rush / SECOND} s/${silence / SECOND} s`,
    about: `${teeth} times ${rush / SECOND} s at ${perSecond}/s and ${silence / SECOND} s of silence`,
    lasts: teeth * period,
    settles: 20 * MINUTE,
    window: 500,
    steps: Array.from({ length: teeth }, (_, tooth) => ({ at: tooth * period, until: tooth * period + rush })),
    rate: (now) => (now % period < rush ? perSecond : 0),
    audience: { clients: 10 * perSecond, perClient: 5 },
  };
}

/** Ten thousand counters with one increment a minute, and one with hundreds a second. */
function giant(): Trace {
  const counters = 10_000;
  const small = counters / 60;
  const large = 500;
  return {
    ...ONE,
    name: "many small, one giant",
    about: "10,000 counters with 1 increment a minute each, and one with 500/s",
    lasts: 4 * MINUTE,
    settles: 20 * MINUTE,
    window: SECOND,
    steps: [{ at: 0, until: 4 * MINUTE }],
    rate: () => small + large,
    share: large / (small + large),
    counterOf: (random) => (random() * (small + large) < large ? 0 : 1 + Math.floor(random() * counters)),
    audience: { clients: 5_000, perClient: 5 },
  };
}

/** A million counters whose popularity follows Zipf's law. */
function million(): Trace {
  const counters = 1_000_000;
  const perSecond = 5_000;
  const draw = zipf(counters);
  return {
    ...ONE,
    name: "Zipf million",
    about: "a million counters of Zipf's popularity, 5,000/s together",
    lasts: MINUTE,
    settles: 12 * MINUTE,
    window: SECOND,
    rate: () => perSecond,
    share: 1 / (Math.log(counters) + 0.5772),
    counterOf: draw,
    audience: { clients: 1, perClient: 1 },
  };
}

/** Few who write much, and many who write little. */
export const AUDIENCES: readonly Audience[] = [
  { clients: 20, perClient: Number.POSITIVE_INFINITY },
  { clients: 1_000, perClient: 5 },
];

/** Increments that show what a rate costs. */
const ENOUGH = 20_000;

/** A counter at a rate that does not change, from the second minute on. Young, so that each change of its total is worth a publish. */
export function steady(perSecond: number, audience: Audience, lasts?: Millis): Trace {
  const measured = lasts ?? Math.min(Math.max((ENOUGH / perSecond) * SECOND, 3 * MINUTE), HOUR);
  return {
    ...ONE,
    name: `${perSecond}/s`,
    about: `${perSecond}/s from ${audience.clients} clients`,
    warmUp: 2 * MINUTE,
    lasts: measured + 2 * MINUTE,
    settles: 0,
    window: 10 * SECOND,
    rate: () => perSecond,
    audience,
    settings: { precision: 0 },
  };
}

/** A hundred thousand counters that are incremented once. */
export function onceEach(counters = 100_000): Trace {
  const perSecond = 1_000;
  let next = 0;
  return {
    ...ONE,
    name: "once each",
    about: `${counters.toLocaleString("en")} counters with one increment each`,
    lasts: (counters / perSecond) * SECOND,
    settles: 6 * MINUTE,
    window: SECOND,
    rate: () => perSecond,
    share: 0,
    counterOf: () => next++,
    audience: { clients: 1, perClient: 1 },
  };
}

export const TRACES: readonly (() => Trace)[] = [
  () => flashCrowd(100),
  () => flashCrowd(1_000),
  () => flashCrowd(100_000, 30 * SECOND),
  ...AUDIENCES.map((audience) => () => fresh(100, audience)),
  day,
  () => sawtooth(2 * MINUTE, 2 * MINUTE, 8),
  giant,
  million,
];
