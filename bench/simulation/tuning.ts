/**
 * What is deployed, what it was before, and what was tried to find the defaults: each a list of variants of the settings,
 * held against the traffic they are for.
 */
import { DESIGNS, type Design } from "./design.ts";
import { BEFORE } from "./settings.ts";
import { AUDIENCES, flashCrowd, fresh, sawtooth, steady, TRACES, type Trace } from "./traces.ts";

export interface Stage {
  readonly name: string;
  readonly design: Design;
  /** As `name=value`. */
  readonly settings: readonly string[];
}

const [everyWriteWakes, shard0Wakes] = DESIGNS;

export const STAGES: readonly Stage[] = [
  // Only the cool-down made a counter shrink.
  { name: "every write wakes", design: everyWriteWakes, settings: [...BEFORE, "idle=1e15"] },
  { name: "shard 0 wakes", design: shard0Wakes, settings: BEFORE },
  { name: "as deployed", design: shard0Wakes, settings: [] },
];

export interface Experiment {
  readonly name: string;
  readonly question: string;
  readonly traces: readonly (() => Trace)[];
  /** Settings on top of those chosen, each as `name=value`, separated by blanks. */
  readonly variants: readonly string[];
  /** Runs of each, with different seeds. */
  readonly repeats?: number;
}

const WAS = BEFORE.join(" ");
/** The functions as they were, with clients as they are, and the other way round. */
const NEW_CLIENTS = `${WAS} noticesWaiting=1 asksFirst=1 doubtsGrowth=1`;
const OLD_CLIENTS = "noticesWaiting=0 asksFirst=0 doubtsGrowth=0";

/** What is deployed, but for one thing. */
const WITHOUT = [
  "noticesWaiting=0",
  "asksFirst=0",
  "doubtsGrowth=0",
  "hurry=0",
  "firstRate=0",
  "firstRate=0 noise=0",
  "busy=1.25",
  "widest=1",
];

/** A variant as tables name it. */
export function nameOf(variant: string): string {
  const names = { [NEW_CLIENTS]: "functions as before", [WAS]: "as before", [OLD_CLIENTS]: "clients as before" };
  return Object.entries(names).reduce((text, [some, name]) => text.replace(some, name), variant) || "as deployed";
}

const MINUTE = 60_000;
const trace = (name: string) => () => TRACES.map((make) => make()).find((one) => one.name.startsWith(name)) as Trace;
const each = (setting: string, values: readonly number[]) => values.map((value) => `${setting}=${value}`);

export const EXPERIMENTS: readonly Experiment[] = [
  {
    name: "flash",
    repeats: 20,
    question: "What makes a flash crowd of 1,000/s absorbed?",
    traces: [() => flashCrowd(1_000)],
    variants: [
      WAS,
      `${WAS} watching=1`,
      `${WAS} widest=4`,
      `${WAS} growthFactor=3`,
      NEW_CLIENTS,
      OLD_CLIENTS,
      "",
      "watching=1",
      ...WITHOUT,
    ],
  },
  {
    name: "room",
    repeats: 20,
    question: "How much room, and who pays for it, so that a total at 100/s is fresh?",
    traces: [() => flashCrowd(1_000), ...AUDIENCES.map((audience) => () => fresh(100, audience))],
    variants: [
      WAS,
      "growthFactor=1.25 headroom=1.25",
      "",
      "growthFactor=1.5 headroom=1.75",
      "growthFactor=1.5 headroom=2",
      "growthFactor=2 headroom=1.5",
      "growthFactor=3 headroom=1.5",
      "budget=0.25",
      "budget=0.5",
    ],
  },
  {
    name: "day",
    repeats: 3,
    question: "And a day, in which the load changes slowly?",
    traces: [trace("day")],
    variants: [WAS, "", ...WITHOUT],
  },
  {
    name: "documents",
    repeats: 5,
    question: "How much of it depends on what a document takes?",
    traces: [() => flashCrowd(1_000)],
    variants: ["burst=1", "burst=3", "burst=10", "burst=100", "sustained=2", "sustained=5", "sustained=20"].flatMap(
      (world) => [`${WAS} ${world}`, world, `widest=1 ${world}`],
    ),
  },
  {
    name: "noise",
    question: "How certain must a rise be before a counter grows?",
    traces: [() => steady(1, { clients: 10, perClient: Infinity }), () => flashCrowd(1_000), trace("Zipf")],
    variants: [WAS, `${WAS} noise=1`, ...each("noise", [0, 1, 1.3, 1.5, 2, 3]), "firstRate=0"],
  },
  {
    name: "idle",
    repeats: 3,
    question: "After how long without a write does a counter shrink, and when is it folded?",
    traces: [20_000, MINUTE, 2 * MINUTE, 5 * MINUTE].map((silence) => () => sawtooth(MINUTE, silence, 6)),
    variants: [WAS, `${WAS} firstRate=1`, ...each("idle", [10_000, 30_000, 60_000, 120_000, 600_000])],
  },
  {
    name: "million",
    question: "And what does it cost where counters are many and small?",
    traces: [trace("Zipf")],
    variants: [WAS, "", ...each("idle", [120_000, 600_000])],
  },
  {
    name: "budget",
    question: "What does a smaller budget save, and how stale does it make a total?",
    traces: [10, 50, 100, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: each("budget", [0.15, 0.2, 0.25, 0.35, 0.5]),
  },
  {
    name: "shards",
    question: "How many writes per second for a shard, at a steady rate?",
    traces: [50, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: each("writesPerShard", [0.5, 0.75, 1, 1.5, 2]),
  },
  {
    name: "cooldown",
    repeats: 2,
    question: "How long must a counter be calm before it shrinks?",
    traces: [trace("day")],
    variants: each("shrinkCooldown", [60_000, 120_000, 300_000, 600_000, 1_800_000]),
  },
];
