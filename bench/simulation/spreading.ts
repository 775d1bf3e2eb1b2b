/**
 * How a client spreads its writes, with what is set: `createSpread`, or, if something of it is varied, a copy of its rules
 * around it. A test holds the copy equal to the original.
 */
import { SLOW_ACK_MS } from "../../client/src/patience.ts";
import { createSpread, type Spread } from "../../client/src/spread.ts";
import { MAX_SHARDS } from "../../core/src/index.ts";
import type { Random } from "../../core/src/shardSelection.ts";
import type { Millis } from "../../functions/src/config.ts";
import { type Clients, SETTINGS } from "./settings.ts";

type Clock = () => Millis;

const VARIABLE = ["widest", "noticesWaiting", "asksFirst", "doubtsGrowth"] as const satisfies (keyof Clients)[];

export function spreadFor(settings: Clients, random: Random, clock: Clock): Spread {
  const isVaried = VARIABLE.some((name) => settings[name] !== SETTINGS[name]);
  return isVaried ? spreadWith(settings, random, clock) : createSpread(random, clock);
}

export function spreadWith(settings: Clients, random: Random, clock: Clock): Spread {
  const { widest, noticesWaiting, asksFirst, doubtsGrowth } = settings;
  const spread = createSpread(random, clock);
  const sent: Millis[] = [];
  let shardCount = 1;
  let isKnown = false;
  let isDisproved = false;
  let wasSlow = false;
  const isWaiting = () => (sent[0] as Millis) + SLOW_ACK_MS < clock();
  const isSlow = () => (noticesWaiting > 0 ? isWaiting() : wasSlow);
  return {
    ...spread,
    _doubt() {
      const doubt = isSlow() || isDisproved ? 2 : spread._doubt();
      return asksFirst > 0 || !isKnown ? doubt : Math.min(doubt, 1);
    },
    _learn(seen = shardCount, growing) {
      shardCount = Math.max(Number(seen) || 1, 1);
      isKnown = true;
      isDisproved = false;
      spread._learn(seen, doubtsGrowth > 0 ? growing : undefined);
    },
    _sent: () => sent.push(clock()),
    _answered() {
      wasSlow = isWaiting();
      isDisproved ||= wasSlow;
      sent.shift();
    },
    _width: () => Math.min(Math.ceil(isSlow() ? widest * shardCount : shardCount), MAX_SHARDS),
  };
}
