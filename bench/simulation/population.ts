/**
 * The clients of one counter: the real `createSpread`, one for each, with what the client around it does. A client reads the
 * shard count where there is doubt about what it knows; one that watches is told of each publish.
 *
 * So many are there at a time; one that has made its increments leaves, and a new one takes its place.
 */

import type { Spread } from "../../client/src/spread.ts";
import type { Random } from "../../core/src/shardSelection.ts";
import type { Millis } from "../../functions/src/config.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Settings } from "./settings.ts";
import { spreadFor } from "./spreading.ts";

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
  /** When the read of the shard count that is under way is done. */
  readUntil: Millis;
  /** Which publish it has seen. */
  seen: number;
}

/** A client that makes an increment, and when. */
export interface Turn {
  readonly client: Client;
  readonly readyAt: Millis;
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

  /** Who makes the next increment. */
  next(counter: Counter, now: Millis): Turn {
    const { clients, perClient } = this.#audience;
    if (perClient === 1) return this.#prepare(this.#arrive(), counter, now);
    const place = Math.floor(this.#random() * clients);
    const client = this.#there.get(place) ?? this.#arrive();
    if (--client.left <= 0) this.#there.delete(place);
    else this.#there.set(place, client);
    return this.#prepare(client, counter, now);
  }

  /** Reads the shard count, once at a time. */
  refresh(client: Client, counter: Counter, now: Millis): void {
    if (client.readUntil > now) return;
    client.readUntil = now + this.#settings.ackLatency;
    counter.bill["shard count, by clients"]++;
    this.#clock.at(client.readUntil, {
      run: () => client.spread._learn(counter.document?.shardCount, counter.document?.growing),
    });
  }

  #arrive(): Client {
    return {
      spread: spreadFor(this.#settings, this.#random, () => EPOCH + this.#clock.now),
      isWatching: this.#random() < this.#settings.watching,
      left: this.#audience.perClient,
      readUntil: 0,
      seen: -1,
    };
  }

  #prepare(client: Client, counter: Counter, now: Millis): Turn {
    const { spread } = client;
    if (client.isWatching) {
      if (client.seen !== counter.version || spread._doubt() > 0) spread._learn(counter.document?.shardCount);
      client.seen = counter.version;
      return { client, readyAt: now };
    }
    const doubt = spread._doubt();
    if (doubt > 0) this.refresh(client, counter, now);
    // What is sent then has learned.
    return { client, readyAt: doubt > 1 ? client.readUntil : now };
  }
}
