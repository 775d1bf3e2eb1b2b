/** What is tried to find the defaults: each a list of variants of the settings, held against the traffic they are for. */
import { AUDIENCES, flashCrowd, fresh, sawtooth, steady, TRACES, type Trace } from "./traces.ts";

/** Clients that notice at once when a write waits, and then ask first, and so after they saw a counter grow. */
const ALERT = "noticesWaiting=1 asksWhileSlow=1 doubtsGrowth=1";
/** Shards enough for twice what 1,000/s need. */
const ROOM = "maxShards=10000";
/** A counter that is measured again after it grew, and grows by what wakes it, and by a rise that is likely to be one. */
const QUICK = "hurry=1 firstRate=1 noise=1.3 busy=0.8 calm=0.35";
/** What makes up for the headroom. */
const FRESH = "fresh=1500 freshBudget=0.75 smallShards=400";
/** What the experiments speak for. */
export const RECOMMENDED = `${ALERT} widest=1.5 ${QUICK} headroom=2 ${ROOM} ${FRESH}`;

export interface Experiment {
  readonly name: string;
  readonly question: string;
  readonly traces: readonly (() => Trace)[];
  /** Settings on top of those chosen, each as `name=value`, separated by blanks. */
  readonly variants: readonly string[];
  /** Runs of each, with different seeds. */
  readonly repeats?: number;
}

/** What is recommended for the functions, with clients as they are. */
const FUNCTIONS_ALONE = `${QUICK} headroom=2 ${ROOM} ${FRESH}`;

/** What is recommended, but for one thing. */
const WITHOUT = [
  "noticesWaiting=0",
  "asksWhileSlow=0",
  "doubtsGrowth=0",
  "hurry=0",
  "firstRate=0 noise=0",
  "headroom=1",
  "busy=1.25",
  "fresh=0",
  "widest=2",
].map((setting) => `${RECOMMENDED} ${setting}`);

/** A variant as tables name it. */
export function nameOf(variant: string): string {
  const names = {
    [RECOMMENDED]: "recommended",
    [FUNCTIONS_ALONE]: "functions alone",
    [ALERT]: "alert",
    [QUICK]: "quick",
  };
  return Object.entries(names).reduce((text, [some, name]) => text.replace(some, name), variant) || "as deployed";
}

const MINUTE = 60_000;
const trace = (name: string) => () => TRACES.map((make) => make()).find((one) => one.name.startsWith(name)) as Trace;

export const EXPERIMENTS: readonly Experiment[] = [
  {
    name: "flash",
    repeats: 20,
    question: "What makes a flash crowd of 1,000/s absorbed sooner?",
    traces: [() => flashCrowd(1_000)],
    variants: [
      "",
      "watching=1",
      "widest=4",
      "growthFactor=3",
      "noticesWaiting=1 asksWhileSlow=1",
      ALERT,
      `${ALERT} hurry=1`,
      `${ALERT} ${QUICK} ${ROOM}`,
      `${ALERT} ${QUICK} ${ROOM} headroom=2`,
      RECOMMENDED,
      `${RECOMMENDED} watching=1`,
      ...WITHOUT,
      `${RECOMMENDED} growthFactor=3`,
      `${RECOMMENDED} headroom=3`,
      `${RECOMMENDED} widest=1`,
    ],
  },
  {
    name: "room",
    repeats: 100,
    question: "How much room, and who pays for it, so that a total at 100/s shows within 2 s?",
    traces: [() => flashCrowd(1_000), ...AUDIENCES.map((audience) => () => fresh(100, audience))],
    variants: [
      "",
      "budget=0.5",
      `headroom=1.5 ${ROOM}`,
      ...["headroom=1.25", "headroom=1.5", "headroom=1.75", "headroom=2"].map((room) => `${RECOMMENDED} ${room}`),
      ...["headroom=1.25", "headroom=1.5", "headroom=2"].map((room) => `${RECOMMENDED} fresh=0 ${room}`),
      `${RECOMMENDED} fresh=0 budget=0.5`,
      `${RECOMMENDED} headroom=1.5 growthFactor=3`,
      `${RECOMMENDED} smallShards=10000`,
      FUNCTIONS_ALONE,
    ],
  },
  {
    name: "day",
    repeats: 3,
    question: "And a day, in which the load changes slowly?",
    traces: [trace("day")],
    variants: ["", RECOMMENDED, ...WITHOUT],
  },
  {
    name: "documents",
    repeats: 5,
    question: "How much of it depends on what a document takes?",
    traces: [() => flashCrowd(1_000)],
    variants: ["burst=1", "burst=3", "burst=10", "burst=100", "sustained=2", "sustained=5", "sustained=20"].flatMap(
      (world) => [world, `${RECOMMENDED} ${world}`, `${RECOMMENDED} widest=1 ${world}`],
    ),
  },
  {
    name: "noise",
    question: "How certain must a rise be before a counter grows?",
    traces: [() => steady(1, { clients: 10, perClient: Infinity }), () => flashCrowd(1_000), trace("Zipf")],
    variants: [
      "noise=0",
      "noise=1",
      "noise=2",
      "firstRate=1",
      "firstRate=1 noise=1",
      "firstRate=1 noise=2",
      ...[0, 1, 1.3, 1.5, 2, 3].map((noise) => `${RECOMMENDED} noise=${noise}`),
      `${RECOMMENDED} firstRate=0`,
    ],
  },
  {
    name: "idle",
    repeats: 3,
    question: "After how long without a write does a counter shrink, and when is it folded?",
    traces: [20_000, MINUTE, 2 * MINUTE, 5 * MINUTE].map((silence) => () => sawtooth(MINUTE, silence, 6)),
    variants: [
      "",
      "idle=600000",
      "firstRate=1",
      FUNCTIONS_ALONE,
      ...[10, 30, 60, 120, 600].map((seconds) => `${RECOMMENDED} idle=${seconds}000`),
    ],
  },
  {
    name: "million",
    question: "And what does it cost where counters are many and small?",
    traces: [trace("Zipf")],
    variants: [
      "",
      "idle=600000",
      RECOMMENDED,
      ...["fresh=0", "idle=120000", "idle=600000"].map((setting) => `${RECOMMENDED} ${setting}`),
    ],
  },
  {
    name: "budget",
    question: "What does a smaller budget save, and how stale does it make a total?",
    traces: [10, 50, 100, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: [0.1, 0.15, 0.2, 0.25, 0.35, 0.5].map((budget) => `${RECOMMENDED} fresh=0 budget=${budget}`),
  },
  {
    name: "shards",
    question: "How many writes per second for a shard, at a steady rate?",
    traces: [50, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: [0.5, 0.75, 1, 1.5, 2].map((writes) => `${RECOMMENDED} writesPerShard=${writes}`),
  },
  {
    name: "cooldown",
    repeats: 2,
    question: "How long must a counter be calm before it shrinks?",
    traces: [trace("day")],
    variants: [60, 120, 300, 600, 1_800].map((seconds) => `${RECOMMENDED} shrinkCooldown=${seconds}000`),
  },
];
