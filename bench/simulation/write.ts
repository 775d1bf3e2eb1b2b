/**
 * One increment on its way, as in `client/src/web/commit.ts`: sent to a shard by a commit of its own, refused there and
 * sent to another one, or queued, committed, acknowledged. Now and then an acknowledged one removes old marks.
 *
 * Who watches the counter writes through the SDK's queue unless writes are contended. The queue sends a refused write to the
 * same shard again: at once, then with delays that grow by half from a second to a minute, give or take a half. People who
 * have no patience left close the page, and what was refused last is never tried again.
 */

import {
  INCREMENTS_PER_MARK_REMOVAL,
  MARK_LIFETIME_SECONDS,
  type Random,
  randomShard,
  SLOW_ACK_MS,
} from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
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
  #shard = "0";
  #attempts = 0;
  #isQueued = false;
  #state: "ready" | "retried" | "refused" | "queued" | "committed" = "ready";

  constructor(world: World, counter: Counter, population: Population, issuedAt: Millis) {
    this.#world = world;
    this.#counter = counter;
    this.#population = population;
    this.#client = population.next();
    this.issuedAt = issuedAt;
    this.#prepare(issuedAt);
  }

  run(now: Millis): void {
    if (this.#state === "ready") this.#send(now);
    else if (this.#state === "retried") this.#attempt(now);
    else if (this.#state === "refused") this.#move(now);
    else if (this.#state === "queued") this.#commit(now);
    else this.#acknowledge(now);
  }

  /** Sends once the shard count is known. */
  #prepare(now: Millis): void {
    this.#state = "ready";
    const readyAt = this.#population.refreshShardCount(this.#client, this.#counter, now);
    if (readyAt <= now) this.#send(now);
    else this.#world.clock.at(readyAt, this);
  }

  #send(now: Millis): void {
    const { shardCountCache, isWatching } = this.#client;
    this.#sentAt = now;
    this.#shard = randomShard(shardCountCache._shardsToChooseFrom(), this.#world.random);
    shardCountCache._requestSent();
    this.#isQueued = isWatching && !shardCountCache._isContended();
    this.#attempt(now);
  }

  #attempt(now: Millis): void {
    const { clock, settings, waiting } = this.#world;
    if (now - this.issuedAt > settings.patience) {
      waiting.delete(this);
      this.#client.shardCountCache._requestAnswered();
      this.#world.gauges().abandoned(this.issuedAt, now - this.issuedAt);
      return;
    }
    const wait = this.#counter.shard(Number(this.#shard)).offer(now, settings);
    if (wait === 0) {
      this.#commit(now);
      return;
    }
    waiting.add(this);
    if (wait !== undefined) {
      this.#state = "queued";
      clock.at(now + wait, this);
      return;
    }
    this.#world.gauges().refused++;
    this.#state = this.#isQueued ? "retried" : "refused";
    clock.at(now + settings.refusedAfter + settings.ackLatency + (this.#isQueued ? this.#backoff() : 0), this);
  }

  #backoff(): Millis {
    const attempts = this.#attempts++;
    if (attempts === 0) return 0;
    const base = Math.min(FIRST_BACKOFF * BACKOFF_FACTOR ** (attempts - 1), LONGEST_BACKOFF);
    return base * (0.5 + this.#world.random());
  }

  /** Goes on with another shard. */
  #move(now: Millis): void {
    this.#client.shardCountCache._requestAnswered(true);
    this.#prepare(now);
  }

  #commit(now: Millis): void {
    const { backend, clock, settings } = this.#world;
    // Later than whatever was measured in this tick, for it may not have been seen.
    const at = now + 1;
    const isCreation = this.#counter.commit(Number(this.#shard), at);
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
    const { random, waiting, gauges } = this.#world;
    this.#client.shardCountCache._requestAnswered();
    waiting.delete(this);
    gauges().acknowledged(this.issuedAt, at - this.issuedAt);
    if (random() * INCREMENTS_PER_MARK_REMOVAL < 1) this.#tidy(at);
  }

  #tidy(now: Millis): void {
    const { bill } = this.#counter;
    const shard = this.#counter.shard(Number(this.#shard));
    const old = now - MARK_LIFETIME_SECONDS * 1_000;
    bill["tidying: reads"]++;
    if (shard.writes === undefined || shard.markedAt > old) return;
    bill["tidying: writes"]++;
    shard.markedAt = old;
    // Takes the document's time as any write does. Of a trigger shard it invokes a function, which sees that nothing changed.
    shard.offer(now, this.#world.settings);
    if (this.#shard === "0") bill.invocations++;
  }
}
