/**
 * The clients of one counter: the real `createSpread`, one for each, with what the client around it does. A client reads the
 * shard count before its first increment and whenever what it knows is stale; one that watches is told of each publish.
 *
 * So many are there at a time; one that has made its increments leaves, and a new one takes its place.
 */

import { createSpread, type Spread } from "../../client/src/spread.ts";
import type { Random } from "../../core/src/shardSelection.ts";
import type { Millis } from "../../functions/src/config.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Settings } from "./settings.ts";
import { spreadWith } from "./widening.ts";

/** When virtual time begins, for those who take 0 for long ago. */
const EPOCH: Millis = 1_700_000_000_000;

export interface Audience {
  /** Clients of one counter that are there at a time. */
  readonly clients: number;
  /** Increments that each makes before it leaves. */
  readonly perClient: number;
}

export interface Client {
  readonly spread: Spread;
  readonly isWatching: boolean;
  left: number;
  /** First increments wait for the first read. */
  readyAt: Millis;
  isReading: boolean;
  /** Its last acknowledgement was slow. */
  isSlow: boolean;
  /** The shard count it knows is of a counter that had just grown, and so likely to grow further. */
  isDoubtful: boolean;
  /** Which publish it has seen. */
  seen: number;
}

export class Population {
  readonly #audience: Audience;
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #random: Random;
  readonly #there = new Map<number, Client>();

  constructor(audience: Audience, clock: Clock, settings: Settings, random: Random) {
    this.#audience = audience;
    this.#clock = clock;
    this.#settings = settings;
    this.#random = random;
  }

  /** The client that makes the next increment. */
  next(counter: Counter, now: Millis): Client {
    const { clients, perClient } = this.#audience;
    if (perClient === 1) return this.#prepare(this.#arrive(now), counter, now);
    const place = Math.floor(this.#random() * clients);
    const client = this.#there.get(place) ?? this.#arrive(now);
    if (--client.left <= 0) this.#there.delete(place);
    else this.#there.set(place, client);
    return this.#prepare(client, counter, now);
  }

  /** Reads the shard count in the background, once at a time. */
  refresh(client: Client, counter: Counter, now: Millis): void {
    if (client.isReading) return;
    client.isReading = true;
    counter.bill["shard count, by clients"]++;
    this.#clock.at(now + this.#settings.ackLatency, {
      run: (then) => {
        client.isReading = false;
        client.isDoubtful = this.#settings.doubtsGrowth > 0 && counter.document?.isGrowing === true;
        client.spread._learn(EPOCH + then, counter.document?.shardCount);
      },
    });
  }

  #arrive(now: Millis): Client {
    const { widest, watching } = this.#settings;
    const isWatching = this.#random() < watching;
    return {
      spread: widest === 2 ? createSpread(this.#random) : spreadWith(widest, this.#random),
      isWatching,
      left: this.#audience.perClient,
      // The read that begins now is over then, and has run before.
      readyAt: isWatching ? now : now + this.#settings.ackLatency,
      isReading: false,
      isSlow: false,
      isDoubtful: false,
      seen: -1,
    };
  }

  #prepare(client: Client, counter: Counter, now: Millis): Client {
    if (client.isWatching) {
      if (client.seen !== counter.version || client.spread._isStale(EPOCH + now))
        client.spread._learn(EPOCH + now, counter.document?.shardCount);
      client.seen = counter.version;
    } else {
      const asksFirst = client.isDoubtful || (this.#settings.asksWhileSlow > 0 && client.isSlow);
      if (asksFirst || client.spread._isStale(EPOCH + now)) this.refresh(client, counter, now);
      // What is sent then has learned.
      if (asksFirst) client.readyAt = now + this.#settings.ackLatency;
    }
    return client;
  }
}
