/** The scenario of a seed: a configuration, the actions of callers, and the faults. Plain data, so it can be minimized. */

import { parseCountedCollection, parseMirrors } from "../../core/src/index.ts";
import type { Config } from "../../functions/src/config.ts";
import { type Random, randomFor } from "../../testkit/random.ts";
import { FAULTS, type Fault } from "./faults.ts";
import type { Micros } from "./model/values.ts";

/** An action, `at` microseconds into the run. Clients, servers and instances are numbered. */
export type Action = { readonly at: number } & (
  | { readonly does: "increment"; readonly client: number; readonly counter: string; readonly by: number }
  | { readonly does: "like" | "unlike"; readonly client: number; readonly counter: string; readonly key: string }
  | { readonly does: "visit"; readonly client: number; readonly visitor: string; readonly by: number | undefined }
  | { readonly does: "visitServer"; readonly server: number; readonly visitor: string }
  | { readonly does: "resetVisitors" }
  | { readonly does: "search"; readonly events: readonly string[]; readonly diesAfter: Micros | undefined }
  | { readonly does: "resetKeys" }
  | { readonly does: "closeClient"; readonly client: number }
  | { readonly does: "add"; readonly server: number; readonly counter: string; readonly by: number }
  | { readonly does: "addOnce" | "undoOnce"; readonly server: number; readonly counter: string; readonly key: string }
  | { readonly does: "killServer"; readonly server: number }
  | { readonly does: "bareWrite"; readonly counter: string; readonly shard: string; readonly by: number }
  | { readonly does: "reset"; readonly counter: string; readonly to: number }
  | { readonly does: "ensure"; readonly counter: string; readonly initial: number }
  | { readonly does: "prewarm"; readonly counter: string; readonly shards: number }
  | { readonly does: "deleteCounter" | "clear"; readonly counter: string }
  | { readonly does: "order" | "cancel"; readonly server: number; readonly order: string }
  | { readonly does: "drift"; readonly by: number }
  | { readonly does: "reconcile" | "reconcileBySchedule" }
  | { readonly does: "post" | "unpost"; readonly post: string }
  | { readonly does: "page" | "unpage"; readonly page: string }
  | { readonly does: "oldIncrement"; readonly client: number; readonly by: number }
  | { readonly does: "oldField"; readonly total: number }
  | { readonly does: "oldWipe" | "oldFold" | "oldAggregate" | "oldPartial" | "import" | "giveBack" }
  | { readonly does: "openSale"; readonly units: number; readonly shards: number }
  | { readonly does: "take"; readonly client: number; readonly key: string; readonly units: number }
  | { readonly does: "undoTake"; readonly client: number; readonly key: string }
  | { readonly does: "restock"; readonly server: number; readonly units: number }
  | { readonly does: "takeServer"; readonly server: number; readonly key: string | undefined; readonly units: number }
  | { readonly does: "sweep" }
  | { readonly does: "kill" | "freeze"; readonly instance: number; readonly seconds: number }
);

export interface Scenario {
  readonly seed: number;
  readonly config: Config;
  readonly faults: readonly Fault[];
  /** The share of calls, events and tasks that get a fault. */
  readonly faultRate: number;
  /**
   * How far snapshots may lag behind earlier commits: 0 in production, more in the emulator
   * (`functions/src/backend.ts`).
   */
  readonly snapshotLag: Micros;
  /** How long most calls take each way. */
  readonly latency: Micros;
  /** Instances of the functions that run at the same time. */
  readonly instances: number;
  /** Whether the composite indexes were deployed. */
  readonly index: "ready" | "missing";
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
/** A counter of documents, each of which is created and deleted in one commit with its increment. */
export const ORDERS = { counter: "orders:e", collection: "orders" };
/** The counter whose visitors are counted. */
export const VISITED = "views:a";
/** The counter whose keys are counted. */
export const SEARCHED = "searches:h";
/** The bounded counter. */
export const STOCK = "tickets:g";
/** A field that Google's counter extension counts, and the counter that takes it over. */
export const BRIDGED = { counter: "visits:f", document: "walls/f", field: "visits" };

/** Time zones, and how many minutes their clocks are ahead of UTC, all year. A day of the last one ends during most runs. */
export const OFFSETS: Readonly<Record<string, number>> = { UTC: 0, "Asia/Kolkata": 330, "-00:05": -5 };

export function scenarioOf(seed: number): Scenario {
  let scenario = trafficOf(seed);
  // Each part has its own random numbers, seeded with its name, so that a change of one part leaves the others as they are.
  for (const [name, add] of Object.entries({
    deletions,
    maintenance,
    stragglers,
    lull,
    crowd,
    move,
    visits,
    sale,
    keyedEvents,
  })) {
    scenario = { ...scenario, ...add(scenario, randomFor(seed, name)) };
  }
  return { ...scenario, actions: scenario.actions.toSorted((a, b) => a.at - b.at) };
}

/** Deletes counters, or clears emulators, while clients and servers write. */
function deletions({ actions, config }: Scenario, random: Random): Partial<Scenario> {
  const duration = actions.at(-1)?.at ?? 0;
  const count = random.chance(0.4) ? random.integer(1, 3) : 0;
  const more = Array.from({ length: count }, () => Math.round(random.next() * duration)).flatMap((at) => {
    const counter = random.pick([...PLAIN, LIKES, VOTES]);
    const deletion: Action = { at, does: random.chance(0.7) ? "deleteCounter" : "clear", counter };
    // Writes follow while instances still remember the deleted counter.
    const later = () => at + Math.round(random.next() * (config.maxInterval + 2_000) * MS);
    const writes = Array.from({ length: random.integer(0, 3) }, () => randomWrite(counter, random, later()));
    return [deletion, ...writes];
  });
  return { actions: [...actions, ...more] };
}

/** More resets, creations and pre-warmings. */
function maintenance({ actions, config }: Scenario, random: Random): Partial<Scenario> {
  const duration = actions.at(-1)?.at ?? 0;
  const more = Array.from({ length: random.integer(0, 6) }, (): Action => {
    const at = Math.round(random.next() ** 2 * duration);
    const counter = random.pick(PLAIN);
    const initial = random.integer(0, 100);
    return random.pick<Action>([
      { at, does: "reset", counter, to: initial },
      { at, does: "ensure", counter, initial },
      { at, does: "prewarm", counter, shards: random.integer(1, config.maxShards) },
    ]);
  });
  return { actions: [...actions, ...more] };
}

/** Writes many shards in a burst, and some of them again when they are about to be folded. */
function stragglers({ actions, config }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.3)) return {};
  const counter = random.pick(PLAIN);
  const start = Math.round(random.next() * (actions.at(-1)?.at ?? 0));
  const shards = Array.from({ length: random.integer(1, 5) }, () => `${random.integer(1, 6)}`);
  const burst = shards.map(
    (shard): Action => ({ at: start + random.integer(0, 500) * MS, does: "bareWrite", counter, shard, by: 1 }),
  );
  const quiet = config.maxInterval + Math.min(60_000, config.shrinkCooldown) + Math.min(130_000, config.shrinkCooldown);
  const folded = start + (quiet + config.shrinkCooldown) * MS;
  const late = Array.from({ length: random.integer(1, 4) }, (): Action => {
    const at = folded + Math.round(random.between(-1, 1) ** 3 * config.maxInterval * MS);
    return { at, does: "bareWrite", counter, shard: random.pick(shards), by: random.integer(1, 3) };
  });
  return { actions: [...actions, ...burst, ...late] };
}

/** A counter is busy, gets no writes for a moment, and then a late one. */
function lull({ actions, config }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.15)) return {};
  const counter = random.pick(PLAIN);
  const start = Math.round(random.next() * (actions.at(-1)?.at ?? 0));
  const write = (after: Micros): Action => {
    return { at: start + Math.round(after), does: "increment", client: random.integer(0, 3), counter, by: 1 };
  };
  const busy = Array.from({ length: random.integer(10, 30) }, () => write(random.next() * 3 * SECOND));
  const late = Array.from({ length: random.integer(1, 2) }, () => {
    return write(3 * SECOND + random.between(0.5, 4) * config.minInterval * MS);
  });
  const isNarrow = random.chance(0.7);
  return {
    actions: [...actions, ...busy, ...late],
    config: isNarrow ? { ...config, minShards: 1, maxShards: 1 } : config,
  };
}

/** Hundreds of clients write one counter within a minute, over connections that break. */
function crowd({ actions, config, faults, faultRate }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(1 / 20)) return {};
  const counter = random.pick(PLAIN);
  const start = Math.round(random.next() * (actions.at(-1)?.at ?? 0));
  const duration = random.pick([1, 5, 10, 60]) * SECOND;
  const increments = Array.from({ length: random.integer(50, 300) }, (_, i): Action => {
    const at = start + Math.round(random.next() * duration);
    return { at, does: "increment", client: CROWD + i, counter, by: 1 };
  });
  // Mostly a single shard, so that streams are sent again while other clients write it.
  const isNarrow = random.chance(0.7);
  return {
    actions: [...actions, ...increments],
    config: isNarrow ? { ...config, minShards: 1, maxShards: 1 } : config,
    faults: faults.includes("cut connections") ? faults : [...faults, "cut connections"],
    faultRate: Math.max(faultRate, 0.1),
  };
}

/** A field moves from Google's extension to a counter, while old apps, new apps and Google's functions count. */
function move({ actions, snapshotLag }: Scenario, random: Random): Partial<Scenario> {
  // An emulator's snapshots may show two documents as of different instants. The library waits for that, in an emulator.
  if (snapshotLag > 0 || !random.chance(0.3)) return {};
  const duration = random.pick([2, 10, 60, 600]) * SECOND;
  const at = () => Math.round(random.next() * duration);
  const counting = Array.from({ length: random.integer(1, 25) }, (): Action => {
    const [client, by] = [random.integer(0, 4), random.pick([1, 1, 2, -1, 5])];
    if (random.chance(0.7)) return { at: at(), does: "oldIncrement", client, by };
    return { at: at(), does: "increment", client, counter: BRIDGED.counter, by: Math.max(by, 1) };
  });
  // Google's functions begin again with 0 where the field is gone, as they always have.
  const isWiped = random.chance(0.3);
  const folding = Array.from({ length: random.integer(0, isWiped ? 2 : 8) }, (): Action => {
    return { at: at(), does: isWiped ? "oldWipe" : random.pick(["oldFold", "oldFold", "oldAggregate", "oldPartial"]) };
  });
  const moving = Array.from({ length: random.integer(0, 4) }, (): Action => {
    return { at: at(), does: random.pick(["import", "giveBack"]) };
  });
  const first: Action = { at: 0, does: "oldField", total: random.integer(0, 100) };
  // The last increment of all is moved by Google's functions while the bridge looks for it.
  const late = duration + random.integer(1, 100) * SECOND;
  const last = Array.from({ length: random.integer(0, isWiped ? 1 : 5) }, (_, n): Action => {
    const at = late + random.integer(0, 200) * MS;
    return n === 0 ? { at: late, does: "oldIncrement", client: 0, by: 1 } : { at, does: "oldFold" };
  });
  return {
    actions: [...actions, first, ...counting, ...folding, ...moving, { at: duration, does: "import" }, ...last],
  };
}

/** Visitors come, some of them again, with views or without. */
function visits({ actions }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.3)) return {};
  const duration = random.pick([1, 5, 30, 120]) * SECOND;
  const visitors = random.pick([1, 5, 40]);
  const more = Array.from({ length: random.integer(1, 30) }, (): Action => {
    const at = Math.round(random.next() * duration);
    const visitor = `visitor${random.integer(1, visitors)}`;
    if (random.chance(0.05)) return { at, does: "resetVisitors" };
    if (random.chance(0.3)) return { at, does: "visitServer", server: random.integer(0, 1), visitor };
    return { at, does: "visit", client: random.integer(0, 3), visitor, by: random.pick([undefined, 1]) };
  });
  return { actions: [...actions, ...more] };
}

/** Events with keys come to instances of ingest, some of them again. They have runs of their own, which leaves others as they are. */
function keyedEvents({ actions }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.1)) return {};
  const duration = random.pick([1, 5, 30, 120]) * SECOND;
  const different = random.pick([1, 5, 40]);
  const more = Array.from({ length: random.integer(1, 30) }, (): Action => {
    const at = Math.round(random.next() * duration);
    if (random.chance(0.05)) return { at, does: "resetKeys" };
    const events = Array.from({ length: random.integer(1, 4) }, () => `event${random.integer(1, different)}`);
    const diesAfter = random.chance(0.2) ? random.integer(1, 500) * MS : undefined;
    return { at, does: "search", events: [...new Set(events)], diesAfter };
  });
  const faults = actions.filter(({ does }) => does === "kill" || does === "freeze" || does === "sweep");
  return { actions: [...faults, ...more] };
}

/** A sale: users take units, some give them back, and a server restocks and takes. */
function sale({ actions, config }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.3)) return {};
  const start = Math.round(random.next() * (actions.at(-1)?.at ?? 0));
  const duration = random.pick([1, 5, 30, 120]) * SECOND;
  const units = random.pick([0, 3, 15, 60, 200]);
  const users = random.pick([2, 8, 30]);
  const more = Array.from({ length: random.integer(1, 40) }, (): Action => {
    const at = start + Math.round(random.next() * duration);
    const roll = random.next();
    const amount = random.pick([1, 1, 2, 10]);
    if (roll < 0.1) return { at, does: "restock", server: random.integer(0, 1), units: amount * random.integer(1, 9) };
    if (roll < 0.2) {
      const key = random.chance(0.5) ? `order${random.integer(0, 3)}` : undefined;
      return { at, does: "takeServer", server: random.integer(0, 1), key, units: amount * random.integer(1, 4) };
    }
    const user = random.integer(0, users);
    const [client, key] = [BUYERS + user, `user${user}`];
    if (roll < 0.3) return { at, does: "undoTake", client, key };
    return { at, does: "take", client, key, units: amount };
  });
  const open: Action = { at: start, does: "openSale", units, shards: random.integer(1, config.maxShards) };
  return { actions: [...actions, open, ...more] };
}

/** The number of the first buyer of a sale. Each has its own connection. */
const BUYERS = 500;

/** The number of the first client of a crowd. Each has its own connection. */
const CROWD = 1_000;

function randomWrite(counter: string, random: Random, at: Micros): Action {
  const client = random.integer(0, 3);
  const key = `user${Math.max(client, 1)}`;
  if (counter === LIKES) return { at, does: "like", client, counter, key };
  if (counter === VOTES) return { at, does: "addOnce", server: 0, counter, key: `order${random.integer(0, 3)}` };
  return random.chance(0.7)
    ? { at, does: "increment", client, counter, by: random.integer(1, 5) }
    : { at, does: "add", server: 1, counter, by: random.integer(1, 5) };
}

function trafficOf(seed: number): Scenario {
  const random = randomFor(seed, "scenario");
  const minShards = random.integer(1, 2);
  const minInterval = 1_000 * random.integer(1, 2);
  const config: Config = {
    collection: "counters",
    minShards,
    maxShards: minShards + random.integer(0, 8),
    writesPerShard: random.pick([0.2, 0.5, 1, 4]),
    // A fold deletes the shard's marks, which must last two minutes.
    shrinkCooldown: 1_000 * random.pick([120, 200, 600]),
    minInterval,
    maxInterval: minInterval + 1_000 * random.pick([0, 2, 10]),
    precision: random.pick([0, 0.001, 0.1]),
    counted: parseCountedCollection(POSTS),
    historyRetention: 30 * 86_400_000,
    timeZone: randomFor(seed, "time zone").pick(Object.keys(OFFSETS)),
    regions: undefined,
    exchangeInterval: 1_000,
    mirrors: [
      ...parseMirrors("views=pages/{key}.stats.views, posts=pages/home.posts", "MIRRORS"),
      ...parseMirrors("visits=walls/{key}.visits", "BRIDGE"),
    ],
  };
  // Each run has its own selection of faults, since many at once hide each other. Every eighth run has none.
  const isFaultless = random.chance(1 / 8);
  const share = random.next();
  const faults = FAULTS.filter(() => random.chance(share) && !isFaultless);
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
