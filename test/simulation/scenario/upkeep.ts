/** Deletions, resets and folds while others write. */

import type { Random } from "../../../core/testing/random.ts";
import { type Action, LIKES, MS, PLAIN, type Scenario, VOTES } from "./scenario.ts";
import { randomWrite } from "./traffic.ts";

/** Deletes counters, or clears emulators, while clients and servers write. */
export function deletions({ actions, config }: Scenario, random: Random): Partial<Scenario> {
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
export function maintenance({ actions, config }: Scenario, random: Random): Partial<Scenario> {
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
export function stragglers({ actions, config }: Scenario, random: Random): Partial<Scenario> {
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
