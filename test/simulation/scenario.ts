/** What a seed stands for: a deployment, what people do and when, and what may go wrong. Plain data, so it can be cut down. */
import type { Config } from "../../functions/src/config.ts";
import { parseCounted } from "../../functions/src/counted.ts";
import { parseMirrors } from "../../functions/src/mirror.ts";
import { FAULTS, type Fault } from "./faults.ts";
import type { Micros } from "./model/values.ts";
import { type Random, randomFor } from "./random.ts";

/** Somebody does something, `at` microseconds into the run. Clients, servers and instances are numbered. */
export type Action = { readonly at: number } & (
  | { readonly does: "increment"; readonly client: number; readonly counter: string; readonly by: number }
  | { readonly does: "like" | "unlike"; readonly client: number; readonly counter: string; readonly key: string }
  | { readonly does: "closeClient"; readonly client: number }
  | { readonly does: "add"; readonly server: number; readonly counter: string; readonly by: number }
  | { readonly does: "addOnce" | "undoOnce"; readonly server: number; readonly counter: string; readonly key: string }
  | { readonly does: "killServer"; readonly server: number }
  | { readonly does: "bareWrite"; readonly counter: string; readonly shard: string; readonly by: number }
  | { readonly does: "reset"; readonly counter: string; readonly to: number }
  | { readonly does: "ensure"; readonly counter: string; readonly initial: number }
  | { readonly does: "order" | "cancel"; readonly server: number; readonly order: string }
  | { readonly does: "drift"; readonly by: number }
  | { readonly does: "reconcile" | "reconcileBySchedule" }
  | { readonly does: "post" | "unpost"; readonly post: string }
  | { readonly does: "page" | "unpage"; readonly page: string }
  | { readonly does: "sweep" }
  | { readonly does: "kill" | "freeze"; readonly instance: number; readonly seconds: number }
);

export interface Scenario {
  readonly seed: number;
  readonly config: Config;
  readonly faults: readonly Fault[];
  /** The share of calls, events and the like with which something goes wrong. */
  readonly faultRate: number;
  /**
   * By how much snapshots may lag behind commits that came before them: 0 in production, more in the emulator
   * (`functions/src/backend.ts`).
   */
  readonly margin: Micros;
  /** How long a call takes each way, mostly. */
  readonly latency: Micros;
  /** Instances of the functions that run at the same time. */
  readonly instances: number;
  readonly actions: readonly Action[];
}

const MS = 1_000;
const SECOND = 1_000 * MS;
/** The counted collection, and the counter that counts it. */
export const POSTS = "posts";
/** Pages that may mirror a counter. */
const PAGES = ["pages/a", "pages/home"];
const PLAIN = ["views:a", "b"];
const LIKES = "likes:c";
const VOTES = "votes:d";
/** Counts the documents of a collection; each is created and deleted in one commit with its increment. */
export const ORDERS = { counter: "orders:e", collection: "orders" };

export function scenarioOf(seed: number): Scenario {
  const random = randomFor(seed, "scenario");
  const minShards = random.integer(1, 2);
  const minInterval = 1_000 * random.integer(1, 2);
  const config: Config = {
    collection: "counters",
    minShards,
    maxShards: minShards + random.integer(0, 8),
    writesPerShard: random.pick([0.2, 0.5, 1, 4]),
    shrinkCooldown: 1_000 * random.pick([1, 3, 20]),
    minInterval,
    maxInterval: minInterval + 1_000 * random.pick([0, 2, 10]),
    precision: random.pick([0, 0.001, 0.1]),
    budget: random.pick([0.05, 0.25, 10]),
    counted: parseCounted(POSTS),
    historyRetention: 30 * 86_400_000,
    mirrors: parseMirrors("views=pages/{key}.stats.views, posts=pages/home.posts"),
  };
  // Each run has its own selection: faults hide each other if all come at once. Every eighth has none.
  const calm = random.chance(1 / 8);
  const share = random.next();
  const faults = FAULTS.filter(() => random.chance(share) && !calm);
  const duration = SECOND * random.pick([3, 10, 10, 30, 120, 600]);
  const count = random.integer(1, random.pick([5, 20, 60]));
  // What is rare must meet: some runs are full of sweeps and resets.
  const upkeep = random.pick([0.1, 0.1, 0.4]);
  const actions = Array.from({ length: count }, () => ({
    // Half of them in bursts, so that they meet.
    at: Math.round(duration * (random.chance(0.5) ? random.next() : random.integer(0, 3) / 4 + random.next() / 100)),
    ...anAction(random, faults, upkeep),
  }));
  return {
    seed,
    config,
    faults,
    faultRate: random.pick([0.02, 0.1, 0.3]),
    latency: (faults.length === 0 ? 5 : random.pick([5, 20, 20, 500, 3_000])) * MS,
    instances: random.integer(1, 3),
    margin: random.chance(0.2) ? 50 * MS : 0,
    actions: actions.sort((a, b) => a.at - b.at) as Action[],
  };
}

// What is left of a type when it is taken apart member by member.
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function anAction(random: Random, faults: readonly Fault[], upkeep: number): Without<Action, "at"> {
  const counter = random.pick(PLAIN);
  const client = random.integer(0, 3);
  const server = random.integer(0, 1);
  const instance = random.integer(0, 2);
  const seconds = random.pick([0.1, 1, 5, 60]);
  const amount = random.integer(1, 5);
  // A client is one user's; the first two are devices of the same.
  const key = `user${Math.max(client, 1)}`;
  const order = `order${random.integer(0, 3)}`;
  const by = random.pick([-2, -1, 1, 3]);
  const shard = `${random.integer(0, 11)}`;
  const roll = random.next();
  const other = random.next();
  if (faults.includes("crashes") && roll < 0.03) return { does: "kill", instance, seconds };
  if (faults.includes("crashes") && roll < 0.05) return { does: "killServer", server };
  if (faults.includes("crashes") && roll < 0.07) return { does: "closeClient", client };
  if (faults.includes("freezes") && roll < 0.1) return { does: "freeze", instance, seconds };
  if (roll < 0.1 + upkeep) {
    if (other < 0.6) return { does: "sweep" };
    if (other < 0.8) return { does: "reset", counter, to: random.integer(-10, 100) };
    if (other < 0.9) return { does: "ensure", counter, initial: random.integer(0, 100) };
    return { does: "bareWrite", counter, shard, by };
  }
  if (roll < 0.25 + upkeep) {
    const post = `post${random.integer(0, 3)}`;
    if (other < 0.45) return { does: "post", post };
    if (other < 0.75) return { does: "unpost", post };
    if (other < 0.9) return { does: "bareWrite", counter: POSTS, shard, by };
    return { does: other < 0.97 ? "page" : "unpage", page: random.pick(PAGES) };
  }
  if (roll < 0.35 + upkeep) {
    if (other < 0.5) return { does: "order", server, order };
    if (other < 0.65) return { does: "cancel", server, order };
    if (other < 0.75) return { does: "drift", by };
    if (other < 0.8) return { does: "reconcileBySchedule" };
    return { does: "reconcile" };
  }
  if (other < 0.15) return { does: "like", client, counter: LIKES, key };
  if (other < 0.25) return { does: "unlike", client, counter: LIKES, key };
  if (other < 0.3) return { does: "addOnce", server, counter: VOTES, key: order };
  if (other < 0.33) return { does: "undoOnce", server, counter: VOTES, key: order };
  if (other < 0.55) return { does: "add", server, counter, by: random.pick([1, 1, -1]) * amount };
  return { does: "increment", client, counter, by: amount };
}
