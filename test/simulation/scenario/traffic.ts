/** The traffic of every scenario: its configuration, its faults and its random actions. */
import { parseCountedCollection, parseMirrors } from "../../../core/src/index.ts";
import { type Random, randomFor } from "../../../core/testing/random.ts";
import { DEFAULT_SETTINGS } from "../../../functions/src/deploy/parameters.ts";
import type { Settings } from "../../../functions/src/shared/feature.ts";
import type { Groups } from "../../../functions/src/shared/groups.ts";
import { FAULTS, type Fault } from "../faults.ts";
import type { Micros } from "../model/values.ts";
import { type Action, LIKES, MS, OFFSETS, PAGES, PLAIN, POSTS, type Scenario, SECOND, VOTES } from "./scenario.ts";

/** This fault slows every commit down for minutes. It hides other faults, so few runs have it. */
const SLOW_COMMITS: Fault = "slow commits";
const OTHER_FAULTS = FAULTS.filter((fault) => fault !== SLOW_COMMITS);

export function trafficOf(seed: number): Scenario {
  const random = randomFor(seed, "scenario");
  const minShards = random.integer(1, 2);
  const minInterval = 1_000 * random.integer(1, 2);
  const [windows, history] = randomFor(seed, "groups").pick<readonly [windows: Groups, history: Groups]>([
    ["all", "all"],
    [["views"], ["posts"]],
    [[], []],
  ]);
  const config: Settings = {
    ...DEFAULT_SETTINGS,
    edition: randomFor(seed, "edition").chance(0.25) ? "enterprise" : "standard",
    minShards,
    maxShards: minShards + random.integer(0, 8),
    writesPerShard: random.pick([0.2, 0.5, 1, 4]),
    // A fold deletes the shard's marks, which must last two minutes.
    shrinkCooldown: 1_000 * random.pick([120, 200, 600]),
    minInterval,
    maxInterval: minInterval + 1_000 * random.pick([0, 2, 10]),
    precision: random.pick([0, 0.001, 0.1]),
    direct: randomFor(seed, "direct").chance(0.75),
    collections: parseCountedCollection(POSTS),
    windows: { groups: windows, timeZone: randomFor(seed, "time zone").pick(Object.keys(OFFSETS)) },
    history: { groups: history, retention: 30 * 86_400_000 },
    visitors: "yes",
    items: true,
    mirrors: [
      ...parseMirrors("views=pages/{name}.stats.views, posts=pages/home.posts", "MIRRORS"),
      ...parseMirrors("visits=walls/{name}.visits", "BRIDGE"),
    ],
  };
  // Each run has its own selection of faults, since many at once hide each other. Every eighth run has none.
  const isFaultless = random.chance(1 / 8);
  const share = random.next();
  const selected = OTHER_FAULTS.filter(() => random.chance(share) && !isFaultless);
  const isSlow = randomFor(seed, SLOW_COMMITS).chance(1 / 8) && !isFaultless;
  const faults = isSlow ? [...selected, SLOW_COMMITS] : selected;
  const duration = SECOND * random.pick([3, 10, 10, 30, 120, 600, 1_800]);
  const count = random.integer(1, random.pick([5, 20, 60]));
  // Some runs are full of sweeps and resets, so that these rare actions coincide.
  const upkeep = random.pick([0.1, 0.1, 0.4]);
  const actions = Array.from({ length: count }, () => ({
    // Half of the actions come in bursts, so that they coincide.
    at: Math.round(duration * (random.chance(0.5) ? random.next() : random.integer(0, 3) / 4 + random.next() / 100)),
    ...randomAction(random, faults, upkeep),
  }));
  return {
    seed,
    config,
    faults,
    faultRate: random.pick([0.02, 0.1, 0.3]),
    latency: (faults.length === 0 ? 5 : random.pick([5, 20, 20, 500, 3_000])) * MS,
    instances: random.integer(1, 3),
    snapshotLag: random.chance(0.2) ? 50 * MS : 0,
    index: random.chance(0.25) ? "missing" : "ready",
    actions: actions.sort((a, b) => a.at - b.at) as Action[],
  };
}

export function randomWrite(counter: string, random: Random, at: Micros): Action {
  const client = random.integer(0, 3);
  const once = `user${Math.max(client, 1)}`;
  if (counter === LIKES) return { at, does: "like", client, counter, once };
  if (counter === VOTES) return { at, does: "addOnce", server: 0, counter, once: `order${random.integer(0, 3)}` };
  return random.chance(0.7)
    ? { at, does: "increment", client, counter, by: random.integer(1, 5) }
    : { at, does: "add", server: 1, counter, by: random.integer(1, 5) };
}

/** `Omit` for each member of a union. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function randomAction(random: Random, faults: readonly Fault[], upkeep: number): DistributiveOmit<Action, "at"> {
  const counter = random.pick(PLAIN);
  const client = random.integer(0, 3);
  const server = random.integer(0, 1);
  const instance = random.integer(0, 2);
  const seconds = random.pick([0.1, 1, 5, 60]);
  const amount = random.integer(1, 5);
  // Each client belongs to one user. The first two are devices of the same user.
  const once = `user${Math.max(client, 1)}`;
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
  if (other < 0.15) return { does: "like", client, counter: LIKES, once };
  if (other < 0.25) return { does: "unlike", client, counter: LIKES, once };
  if (other < 0.3) return { does: "addOnce", server, counter: VOTES, once: order };
  if (other < 0.33) return { does: "undoOnce", server, counter: VOTES, once: order };
  if (other < 0.55) return { does: "add", server, counter, by: random.pick([1, 1, -1]) * amount };
  return { does: "increment", client, counter, by: amount };
}
