/**
 * One increment, as in `client/src/web/commit.ts`: sent to a shard by a commit of its own; refused there and sent to another
 * shard, or committed after a wait; acknowledged.
 *
 * A client that watches a calm counter, neither new nor growing nor contended, writes through the SDK's queue. The queue sends a
 * refused write to the same shard again: at once, then with delays that grow by half from a second to a minute, with a jitter of a
 * half. A user who leaves closes the page, and a refused write is not sent again.
 */
import { INCREMENTS_PER_MARK_REMOVAL, randomShard, type SentWrite } from "../../core/src/index.ts";
import { writeUnits } from "../../costs/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import type { Backend } from "./backend.ts";
import type { Step } from "./clock.ts";
import { afterDirectWrite, type Counter, generationFor } from "./counter.ts";
import { PROMPT } from "./metrics.ts";
import { type Client, learn, type Population } from "./population.ts";
import { commitDelay, type World } from "./world.ts";

const FIRST_BACKOFF: Millis = 1_000;
const BACKOFF_FACTOR = 1.5;
const LONGEST_BACKOFF: Millis = 60_000;

export class Write implements Step {
  readonly #world: World;
  readonly #backend: Backend;
  readonly #counter: Counter;
  readonly #population: Population;
  readonly #client: Client;
  readonly issuedAt: Millis;
  #sentAt: Millis = 0;
  #sent!: SentWrite;
  #responseDelay: Millis = 0;
  #shard = "0";
  /** The generation of the counter document that it joins; `undefined` if it goes to a shard. */
  #generation: number | undefined;
  /** How often it was refused by the rules. */
  #refusals = 0;
  #attempts = 0;
  #isQueued = false;
  #state: "ready" | "sent" | "retried" | "refused" | "queued" | "denied" | "committed" = "ready";

  constructor(world: World, backend: Backend, counter: Counter, population: Population, issuedAt: Millis) {
    this.#world = world;
    this.#backend = backend;
    this.#counter = counter;
    this.#population = population;
    this.#client = population.next();
    this.issuedAt = issuedAt;
    this.#prepare(issuedAt);
  }

  run(now: Millis): void {
    if (this.#state === "ready") this.#send(now);
    else if (this.#state === "sent") this.#attempt(now);
    else if (this.#state === "retried") this.#transmit(now);
    else if (this.#state === "refused") this.#move(now);
    else if (this.#state === "queued") this.#commit(now);
    else if (this.#state === "denied") this.#redirect(now);
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
    this.#sent = shardCountCache._writeSent();
    const isCalm = this.#counter.published?.growing === false && !shardCountCache._isContended();
    // One in twenty is made as if it were not calm, because transactions remove marks.
    this.#isQueued = isWatching && isCalm && this.#world.random() * INCREMENTS_PER_MARK_REMOVAL > 1;
    const { copy } = this.#client;
    const mayJoin = this.#world.settings.direct > 0 && !shardCountCache._isContended() && this.#refusals < 2;
    this.#generation = mayJoin && copy ? generationFor(copy) : undefined;
    if (this.#generation !== undefined) this.#isQueued = isWatching;
    this.#transmit(now);
  }

  #transmit(now: Millis): void {
    const { request, response } = this.#client.connection.delays("write");
    this.#responseDelay = response;
    this.#state = "sent";
    if (request === 0) this.#attempt(now);
    else this.#world.clock.at(now + request, this);
  }

  #attempt(now: Millis): void {
    const { clock, settings, waiting } = this.#world;
    if (now - this.issuedAt > settings.abandonAfter) {
      waiting.delete(this);
      this.#client.shardCountCache._writeAnswered(this.#sent);
      this.#world.metrics.abandoned(this.issuedAt, now - this.issuedAt);
      return;
    }
    if (this.#generation !== undefined && !this.#counter.accepts(this.#generation)) {
      this.#deny(now);
      return;
    }
    const document = this.#generation !== undefined ? this.#counter.document : this.#counter.shard(Number(this.#shard));
    const wait = document.offer(now, settings);
    const duration = wait === undefined ? 0 : wait + commitDelay(this.#world, now);
    if (wait === 0 && duration === 0) {
      this.#commit(now);
      return;
    }
    waiting.add(this);
    if (wait !== undefined) {
      this.#state = "queued";
      clock.at(now + duration, this);
      return;
    }
    this.#state = this.#isQueued ? "retried" : "refused";
    clock.at(now + settings.refusedAfter + this.#responseDelay + (this.#isQueued ? this.#backoff() : 0), this);
  }

  #backoff(): Millis {
    const attempts = this.#attempts++;
    if (attempts === 0) return 0;
    const base = Math.min(FIRST_BACKOFF * BACKOFF_FACTOR ** (attempts - 1), LONGEST_BACKOFF);
    return base * (0.5 + this.#world.random());
  }

  #move(now: Millis): void {
    this.#client.shardCountCache._writeAnswered(this.#sent, true);
    this.#prepare(now);
  }

  /** The rules refuse it. The answer arrives, then the client reads the document. */
  #deny(now: Millis): void {
    this.#state = "denied";
    this.#refusals++;
    this.#counter.bill["refused, looked up"]++;
    const { request, response } = this.#client.connection.delays("read");
    const answeredAt = now + this.#responseDelay;
    const arrived = () => {
      const copy = this.#counter.copy();
      const known = () => {
        learn(this.#client, copy, request + response);
      };
      this.#world.clock.at(answeredAt + request + response, { run: known });
    };
    this.#world.clock.at(answeredAt + request, { run: arrived });
    this.#world.clock.at(answeredAt + request + response, this);
    this.#world.waiting.add(this);
  }

  /** The document shows why: the increment joins another generation, or goes to a shard. */
  #redirect(now: Millis): void {
    this.#client.shardCountCache._writeAnswered(this.#sent);
    this.#send(now);
  }

  /** Writes the counter document. No function is triggered. */
  #join(generation: number, now: Millis): void {
    if (!this.#counter.commitDirect(generation, now)) {
      this.#deny(now);
      return;
    }
    const { metrics } = this.#world;
    this.#counter.bill.increments++;
    metrics.window(now).committed++;
    metrics.staleness.add(0, 1);
    const { copy } = this.#client;
    if (copy && !this.#client.isWatching) this.#client.copy = afterDirectWrite(copy, generation, now);
    this.#acknowledgeLater(now);
  }

  #commit(now: Millis): void {
    if (this.#generation !== undefined) {
      this.#join(this.#generation, now);
      return;
    }
    const { settings } = this.#world;
    // After every measurement of this tick, which may not have seen it.
    const at = now + 1;
    const isCreation = this.#counter.commit(Number(this.#shard), at);
    const { bill } = this.#counter;
    bill.increments++;
    const window = this.#world.metrics.window(now);
    if (settings.enterprise > 0) {
      const bytes = this.#counter.mark(Number(this.#shard), at, !this.#isQueued);
      const moreUnits = writeUnits(bytes) - 1;
      bill["increments beyond 1 KiB"] += moreUnits;
      window.shardBytes += bytes;
      window.mostShardBytes = Math.max(window.mostShardBytes, bytes);
      window.moreUnits += moreUnits;
    }
    window.committed++;
    this.#backend.committed(this.#counter, this.#shard, isCreation, at);
    this.#acknowledgeLater(now);
  }

  #acknowledgeLater(now: Millis): void {
    // A prompt acknowledgement changes nothing that happens before it, so it needs no step of its own.
    const acknowledgedAt = now + this.#responseDelay;
    if (acknowledgedAt - this.#sentAt <= PROMPT) this.#acknowledge(acknowledgedAt);
    else {
      this.#state = "committed";
      this.#world.clock.at(acknowledgedAt, this);
    }
  }

  #acknowledge(at: Millis): void {
    const { waiting, metrics } = this.#world;
    this.#client.shardCountCache._writeAnswered(this.#sent);
    waiting.delete(this);
    metrics.acknowledged(this.issuedAt, at - this.issuedAt);
  }
}
