/** What only some counters do: move from Google's counter, count visitors or items, sell. */

import type { Random } from "../../../core/testing/random.ts";
import { type Action, BRIDGED, MS, type Scenario, SECOND } from "./scenario.ts";

/** The number of the first buyer of a sale. Each has its own connection. */
const BUYERS = 500;

/** A field moves from Google's counter to a counter, while old apps, new apps and Google's functions count. */
export function move({ actions, snapshotLag }: Scenario, random: Random): Partial<Scenario> {
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
export function visits({ actions }: Scenario, random: Random): Partial<Scenario> {
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

/** Events with items come to instances of ingest, some of them again. They have runs of their own, which leaves others as they are. */
export function eventsWithItems({ actions }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.1)) return {};
  const duration = random.pick([1, 5, 30, 120]) * SECOND;
  const different = random.pick([1, 5, 40]);
  const more = Array.from({ length: random.integer(1, 30) }, (): Action => {
    const at = Math.round(random.next() * duration);
    if (random.chance(0.05)) return { at, does: "resetItems" };
    const events = Array.from({ length: random.integer(1, 4) }, () => `event${random.integer(1, different)}`);
    const diesAfter = random.chance(0.2) ? random.integer(1, 500) * MS : undefined;
    return { at, does: "search", events: [...new Set(events)], diesAfter };
  });
  const faults = actions.filter(({ does }) => does === "kill" || does === "freeze" || does === "sweep");
  return { actions: [...faults, ...more] };
}

/** A sale: users take units, some give them back, and a server restocks and takes. */
export function sale({ actions, config }: Scenario, random: Random): Partial<Scenario> {
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
      const once = random.chance(0.5) ? `order${random.integer(0, 3)}` : undefined;
      return { at, does: "takeServer", server: random.integer(0, 1), once, units: amount * random.integer(1, 4) };
    }
    const user = random.integer(0, users);
    const [client, once] = [BUYERS + user, `user${user}`];
    if (roll < 0.3) return { at, does: "undoTake", client, once };
    return { at, does: "take", client, once, units: amount };
  });
  const open: Action = { at: start, does: "openSale", units, shards: random.integer(1, config.maxShards) };
  return { actions: [...actions, open, ...more] };
}
