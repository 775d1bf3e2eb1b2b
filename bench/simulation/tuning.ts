/** What is tried to find the defaults: each an array of variants of the settings, held against the traffic they are for. */
import { flashCrowd, onceEach, sawtooth, steady, TRACES, type Trace } from "./traces.ts";

/** What the experiments speak for: for clients, and for growth. */
export const RECOMMENDED = ["noticesWaiting=1", "asksWhileSlow=1", "hurry=1", "noise=1", "firstRate=1", "headroom=2", "maxShards=10000"];
  "noticesWaiting=1",
  "asksWhileSlow=1",
  "hurry=1",
  "noise=1",
  "headroom=2",
  "maxShards=10000",
];

export interface Experiment {
  readonly name: string;
  readonly question: string;
  readonly traces: readonly (() => Trace)[];
  /** Settings on top of those chosen, each as `name=value`, separated by blanks. */
  readonly variants: readonly string[];
  /** Runs of each, with different seeds. */
  readonly repeats?: number;
  /** Today's design too, or that in which shard 0 wakes alone. */
  readonly bothDesigns?: boolean;
}

const CLIENT = "noticesWaiting=1 asksWhileSlow=1";
/** Shards enough for twice what 1,000/s need. */
const ROOM = "maxShards=10000";
const MINUTE = 60_000;
const trace = (name: string) => () => TRACES.map((make) => make()).find((one) => one.name.startsWith(name)) as Trace;

export const EXPERIMENTS: readonly Experiment[] = [
  {
    name: "flash",
    repeats: 5,
    question: "What makes a flash crowd of 1,000/s absorbed sooner?",
    traces: [() => flashCrowd(1_000)],
    variants: [
      "",
      "watching=1",
      "widest=4",
      "noticesWaiting=1",
      CLIENT,
      `${CLIENT} hurry=1`,
      `${CLIENT} hurry=1 growthFactor=3`,
      `${CLIENT} hurry=1 momentum=0.5 ${ROOM}`,
      `${CLIENT} hurry=1 headroom=2 ${ROOM}`,
      `${CLIENT} hurry=1 writesPerShard=0.5 ${ROOM}`,
      `${CLIENT} hurry=1 noise=1 headroom=2 ${ROOM}`,
      `${CLIENT} hurry=1 noise=2 headroom=2 ${ROOM}`,
      `${CLIENT} hurry=1 noise=1 writesPerShard=0.5 ${ROOM}`,
      `${CLIENT} hurry=1 noise=2 writesPerShard=0.5 ${ROOM}`,
      `hurry=1 noise=1 headroom=2 ${ROOM} watching=1`,
      `${CLIENT} hurry=1 noise=1 headroom=2 ${ROOM} watching=1`,
      `${CLIENT} hurry=1 noise=2 headroom=2 ${ROOM} watching=1`,
      `${CLIENT} hurry=1 noise=2 writesPerShard=0.5 ${ROOM} watching=1`,
    ],
  },
  {
    name: "documents",
    repeats: 5,
    question: "How much of it depends on what a document takes?",
    traces: [() => flashCrowd(1_000)],
    variants: ["burst=1", "burst=10", "burst=100", "sustained=2", "sustained=5", "sustained=20"].flatMap((world) => [
      world,
      `${world} ${CLIENT} hurry=1 headroom=2 ${ROOM}`,
      `${world} ${CLIENT} hurry=1 noise=1 headroom=2 ${ROOM}`,
      `${world} ${CLIENT} hurry=1 noise=2 headroom=2 ${ROOM}`,
    ]),
  },
  {
    name: "noise",
    question: "How certain must a rise be before a counter grows?",
    traces: [() => steady(1, { clients: 10, perClient: Infinity }), () => flashCrowd(1_000), trace("Zipf")],
    variants: ["noise=0", "noise=1", "noise=2", "noise=3"],
  },
  {
    name: "idle",
    question: "After how long is an idle counter folded?",
    traces: [20_000, MINUTE, 2 * MINUTE, 5 * MINUTE].map((silence) => () => sawtooth(MINUTE, silence, 6)),
    variants: [10, 30, 60, 120, 600].map((seconds) => `idleCooldown=${seconds}000 ${CLIENT} hurry=1 noise=2`),
  },
  {
    name: "budget",
    question: "What does a smaller budget save, and how stale does it make a total?",
    traces: [10, 50, 100, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: ["budget=0.1", "budget=0.15", "budget=0.2", "budget=0.25", "budget=0.35", "budget=0.5"],
  },
  {
    name: "shards",
    question: "How many writes per second for a shard, at a steady rate?",
    traces: [50, 1_000].map((rate) => () => steady(rate, { clients: 1_000, perClient: 5 })),
    variants: ["0.5", "0.75", "1", "1.5", "2"].map(
      (writes) => `writesPerShard=${writes} maxShards=10000 ${CLIENT} noise=2`,
    ),
  },
  {
    name: "cooldown",
    repeats: 2,
    question: "How long must a counter be calm before it shrinks?",
    traces: [trace("day")],
    variants: [60, 120, 300, 600, 1_800].map((seconds) => `shrinkCooldown=${seconds}000 noise=2 ${CLIENT} hurry=1`),
  },
  {
    name: "once",
    question: "What does a counter cost that is incremented once?",
    traces: [() => onceEach()],
    variants: [""],
    bothDesigns: true,
  },
];
