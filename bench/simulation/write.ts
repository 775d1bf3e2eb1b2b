/**
 * One increment on its way: sent to a shard, waiting there or refused and tried again, committed, acknowledged.
 *
 * A refused write is tried again on the same shard, because the SDK sends the write it has: at once, then with delays that
 * grow by half from a second to a minute, give or take a half. When people have no patience left, they close the page, and
 * what was refused last is never tried again.
 */

import { SLOW_ACK_MS } from "../../client/src/patience.ts";
import { type Random, randomShard } from "../../core/src/shardSelection.ts";
import type { Millis } from "../../functions/src/config.ts";
import type { Backend } from "./backend.ts";
import type { Clock, Step } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Gauges } from "./gauges.ts";
import type { Client, Population } from "./population.ts";
import type { Settings } from "./settings.ts";

const FIRST_BACKOFF: Millis = 1_000;
const BACKOFF_FACTOR = 1.5;
const LONGEST_BACKOFF: Millis = 60_000;

/** Where increments happen. */
export interface World {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly backend: Backend;
  readonly gauges: () => Gauges;
  readonly random: Random;
  /** Increments not yet acknowledged that wait. */
  readonly waiting: Set<Write>;
}

export class Write implements Step {
  readonly #world: World;
  readonly #counter: Counter;
  readonly #population: Population;
  readonly #client: Client;
  readonly issuedAt: Millis;
  #sentAt: Millis = 0;
  #shard = 0;
  #attempts = 0;
  #state: "ready" | "refused" | "queued" | "committed" = "ready";

  constructor(world: World, counter: Counter, population: Population, issuedAt: Millis) {
    this.#world = world;
    this.#counter = counter;
    this.#population = population;
    const { client, readyAt } = population.next(counter, issuedAt);
    this.#client = client;
    this.issuedAt = issuedAt;
    if (readyAt <= issuedAt) this.run(issuedAt);
    else world.clock.at(readyAt, this);
  }

  run(now: Millis): void {
    if (this.#state === "ready") this.#send(now);
    else if (this.#state === "refused") this.#attempt(now);
    else if (this.#state === "queued") this.#commit(now);
    else this.#acknowledge(now);
  }

  #send(now: Millis): void {
    const { spread } = this.#client;
    this.#sentAt = now;
    this.#shard = Number(randomShard(spread._width(), this.#world.random));
    spread._nextTurn();
    spread._sent();
    this.#attempt(now);
  }

  #attempt(now: Millis): void {
    const { clock, settings, waiting } = this.#world;
    if (now - this.issuedAt > settings.patience) {
      waiting.delete(this);
      this.#client.spread._answered();
      this.#world.gauges().abandoned(this.issuedAt, now - this.issuedAt);
      return;
    }
    const wait = this.#counter.shard(this.#shard).offer(now, settings);
    if (wait === 0) {
      this.#commit(now);
      return;
    }
    if (this.#attempts === 0) waiting.add(this);
    this.#state = wait === undefined ? "refused" : "queued";
    clock.at(now + (wait ?? settings.ackLatency + this.#backoff()), this);
    if (wait !== undefined) return;
    this.#world.gauges().refused++;
    this.#attempts++;
  }

  #backoff(): Millis {
    if (this.#attempts === 0) return 0;
    const base = Math.min(FIRST_BACKOFF * BACKOFF_FACTOR ** (this.#attempts - 1), LONGEST_BACKOFF);
    return base * (0.5 + this.#world.random());
  }

  #commit(now: Millis): void {
    const { backend, clock, settings } = this.#world;
    // Later than whatever was measured in this tick, for it may not have been seen.
    const at = now + 1;
    const isCreation = this.#counter.commit(this.#shard, at);
    this.#counter.bill.increments++;
    this.#world.gauges().window(now).committed++;
    backend.committed(this.#counter, this.#shard, isCreation, at);
    // An ordinary acknowledgement need not be waited for.
    const acknowledgedAt = now + settings.ackLatency;
    if (acknowledgedAt - this.#sentAt <= SLOW_ACK_MS) this.#acknowledge(acknowledgedAt);
    else {
      this.#state = "committed";
      clock.at(acknowledgedAt, this);
    }
  }

  #acknowledge(at: Millis): void {
    const { settings, waiting, gauges } = this.#world;
    this.#client.spread._answered();
    if (at - this.#sentAt > SLOW_ACK_MS && settings.noticesWaiting === 0)
      this.#population.refresh(this.#client, this.#counter, at);
    waiting.delete(this);
    gauges().acknowledged(this.issuedAt, at - this.issuedAt);
  }
}
