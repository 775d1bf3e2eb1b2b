/** What is tried to find the defaults: each a list of variants of the settings, held against the traffic they are for. */
import { flashCrowd, sawtooth, steady, TRACES, type Trace } from "./traces.ts";

/** Clients that notice at once when a write waits, and then ask first. */
const ALERT = "noticesWaiting=1 asksWhileSlow=1";
/** Shards enough for twice what 1,000/s need. */
const ROOM = "maxShards=10000";
/** What the experiments speak for. */
export const RECOMMENDED = `${ALERT} hurry=1 firstRate=1 noise=1.3 headroom=2 busy=0.8 calm=0.35 ${ROOM}`;

export interface Experiment {
  readonly name: string;
  readonly question: string;
  readonly traces: readonly (() => Trace)[];
  /** Settings on top of those chosen, each as `name=value`, separated by blanks. */
  readonly variants: readonly string[];
  /** Runs of each, with different seeds. */
  readonly repeats?: number;
}

/** What is recommended, but for one thing. */
const WITHOUT = ["noticesWaiting=0", "asksWhileSlow=0", "hurry=0", "noise=0", "headroom=1", "busy=1.25"];

/** A variant as tables name it. */
export function nameOf(variant: string): string {
  return variant.replace(RECOMMENDED, "recommended").replace(ALERT, "alert clients") || "as it is";
}

const MINUTE = 60_000;
const trace = (name: string) => () => TRACES.map((make) => make()).find((one) => one.name.startsWith(name)) as Trace;

export const EXPERIMENTS: readonly Experiment[] = [
  {
    name: "flash",
    repeats: 8,
    question: "What makes a flash crowd of 1,000/s absorbed sooner?",
    traces: [() => flashCrowd(1_000)],
    variants: [
      "",
      "watching=1",
      "widest=4",
      "growthFactor=3",
      "noticesWaiting=1",
      ALERT,
      `${ALERT} hurry=1`,
      `${ALERT} hurry=1 momentum=0.5 ${ROOM}`,
      `${ALERT} hurry=1 writesPerShard=0.5 ${ROOM}`,
      `${ALERT} hurry=1 headroom=2 ${ROOM}`,
      RECOMMENDED,
      `${RECOMMENDED} watching=1`,
      ...WITHOUT.map((setting) => `${RECOMMENDED} ${setting}`),
      `${RECOMMENDED} growthFactor=3`,
      `${RECOMMENDED} headroom=3`,
    ],
  },
  {
    name: "day",
    repeats: 3,
    question: "And a day, in which the load changes slowly?",
    traces: [trace("day")],
    variants: ["", RECOMMENDED, ...WITHOUT.map((setting) => `${RECOMMENDED} ${setting}`)],
  },
  {
    name: "documents",
    repeats: 5,
    question: "How much of it depends on what a document takes?",
    traces: [() => flashCrowd(1_000)],
    variants: ["burst=1", "burst=3", "burst=10", "burst=100", "sustained=2", "sustained=5", "sustained=20"].flatMap(
      (world) => [world, `${RECOMMENDED} ${world}`],
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
    question: "After how long is an idle counter folded?",
    traces: [20_000, MINUTE, 2 * MINUTE, 5 * MINUTE].map((silence) => () => sawtooth(MINUTE, silence, 6)),
    variants: [...[10, 30, 60, 120, 600].map((seconds) => `${RECOMMENDED} idle=${seconds}000`)],
  },
  {
    name: "budget",
    question: "What does a smaller budget save, and how stale does it make a total?",
    traces: [10, 50, 100, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: [0.1, 0.15, 0.2, 0.25, 0.35, 0.5].map((budget) => `${RECOMMENDED} budget=${budget}`),
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
