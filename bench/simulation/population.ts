/**
 * The clients of one counter: the real `createShardCountCache`, one for each, with what the client around it does. A client reads the
 * shard count before a write where what it knows is stale; one that watches is told of each publish.
 *
 * So many are there at a time; one that has made its increments leaves, and a new one takes its place.
 */

import { createShardCountCache, type Random, type ShardCountCache } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Settings } from "./settings.ts";

/** When virtual time begins for clients, which take 0 for long ago. */
const EPOCH: Millis = 1_700_000_000_000;

export interface Audience {
  /** Clients of one counter that are there at a time. */
  readonly clients: number;
  /** Increments that each makes before it leaves. */
  readonly perClient: number;
}

export interface Client {
  readonly shardCountCache: ShardCountCache;
  readonly isWatching: boolean;
  left: number;
  /** When the read of the shard count that is under way is done. */
  readUntil: Millis;
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

  /** Who makes the next increment. */
  next(): Client {
    const { clients, perClient } = this.#audience;
    if (perClient === 1) return this.#arrive();
    const place = Math.floor(this.#random() * clients);
    const client = this.#there.get(place) ?? this.#arrive();
    if (--client.left <= 0) this.#there.delete(place);
    else this.#there.set(place, client);
    return client;
  }

  /** Reads the shard count if what the client knows is stale. @returns when the client may write */
  refreshShardCount(client: Client, counter: Counter, now: Millis): Millis {
    const { shardCountCache, isWatching } = client;
    if (isWatching) {
      if (client.seen !== counter.version || shardCountCache._isStale())
        shardCountCache._update(counter.published?.shardCount);
      client.seen = counter.version;
      return now;
    }
    if (!shardCountCache._isStale()) return now;
    if (client.readUntil <= now) {
      client.readUntil = now + this.#settings.ackLatency;
      counter.bill["shard count, by clients"]++;
      shardCountCache._requestSent();
      this.#clock.at(client.readUntil, {
        run: () => {
          shardCountCache._requestAnswered();
          shardCountCache._update(counter.published?.shardCount, counter.published?.growing);
        },
      });
    }
    return client.readUntil;
  }

  #arrive(): Client {
    return {
      shardCountCache: createShardCountCache(() => EPOCH + this.#clock.now),
      isWatching: this.#random() < this.#settings.watching,
      left: this.#audience.perClient,
      readUntil: 0,
      seen: -1,
    };
  }
}
