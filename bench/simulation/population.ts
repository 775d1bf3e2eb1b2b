/**
 * The clients of one counter, each with the real shard count cache. A client reads the shard count before a write if what it
 * knows is stale; a client that watches learns it with each publish. A client that has made its increments is replaced.
 */
import { createShardCountCache, directTarget, type Random, type ShardCountCache } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import { type Counter, type DocumentCopy, readDirect } from "./counter.ts";
import { Connection } from "./network.ts";
import type { Audience } from "./scenarios.ts";
import type { World } from "./world.ts";

/** Virtual time 0, as clients see it: to them 0 is long ago. */
const EPOCH: Millis = 1_700_000_000_000;

export interface Client {
  readonly shardCountCache: ShardCountCache;
  readonly isWatching: boolean;
  readonly connection: Connection;
  incrementsLeft: number;
  /** When the last read of the shard count is answered. */
  readUntil: Millis;
  /** Until when writes wait for it. */
  waitsUntil: Millis;
  /** The version of the document that it has seen last. */
  seenVersion: number;
  /** The counter document, as it was read or watched; `undefined` before. */
  copy: DocumentCopy | undefined;
}

/** A client has read the document, or its watch has. @param roundTrip  how long a read took */
export function learn(client: Client, copy: DocumentCopy, roundTrip?: Millis): void {
  client.copy = copy;
  const growing = roundTrip === undefined ? undefined : copy.published?.growing;
  client.shardCountCache._update(shardCountOf(copy), growing, roundTrip);
}

/** An open counter that was never published has one shard. */
function shardCountOf(copy: DocumentCopy): number | undefined {
  const { published, direct } = copy;
  const known = published?.shardCount ?? (direct?.open ? 1 : 0);
  return Math.max(known, directTarget(readDirect(copy))._shards ?? 0) || undefined;
}

export class Population {
  readonly #audience: Audience;
  readonly #world: World;
  readonly #random: Random;
  readonly #clients = new Map<number, Client>();

  constructor(audience: Audience, world: World, random: Random) {
    this.#audience = audience;
    this.#world = world;
    this.#random = random;
  }

  /** The client that makes the next increment. */
  next(): Client {
    const { clients, perClient } = this.#audience;
    if (perClient === 1) return this.#newClient();
    const place = Math.floor(this.#random() * clients);
    const client = this.#clients.get(place) ?? this.#newClient();
    if (--client.incrementsLeft <= 0) this.#clients.delete(place);
    else this.#clients.set(place, client);
    return client;
  }

  /** Reads the shard count if what the client knows is stale. @returns when the client may write */
  refreshShardCount(client: Client, counter: Counter, now: Millis): Millis {
    const { shardCountCache, isWatching } = client;
    if (isWatching && client.seenVersion !== counter.version) {
      learn(client, counter.copy());
      client.seenVersion = counter.version;
    }
    if (!shardCountCache._isStale()) return now;
    if (client.readUntil <= now) {
      const { request, response } = client.connection.delays("read");
      client.readUntil = now + request + response;
      client.waitsUntil = Math.min(client.readUntil, now + shardCountCache._countTimeout());
      counter.bill["shard count, by clients"]++;
      let read = counter.copy();
      if (request > 0) {
        const arrived = () => {
          read = counter.copy();
        };
        this.#world.clock.at(now + request, { run: arrived });
      }
      const answered = () => {
        learn(client, read, request + response);
      };
      this.#world.clock.at(client.readUntil, { run: answered });
    }
    return client.waitsUntil;
  }

  #newClient(): Client {
    return {
      shardCountCache: createShardCountCache(() => EPOCH + this.#world.clock.now),
      isWatching: this.#random() < this.#world.settings.watching,
      connection: new Connection(this.#world.settings, this.#random),
      incrementsLeft: this.#audience.perClient,
      readUntil: 0,
      waitsUntil: 0,
      seenVersion: -1,
      copy: undefined,
    };
  }
}
