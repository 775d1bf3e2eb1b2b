/**
 * Direct increments in the total that a watch shows. The model is a server with one counter document, whose versions reach the client in
 * their order, some not at all. The SDK adds the writes in its queue to what it shows of a version, until the server has refused them.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../testing/runs.ts";
import { DIRECT_SLOTS, MAX_DIRECT_MARKS } from "./layout.ts";
import { OptimisticTotal, type OwnIncrement } from "./optimisticTotal.ts";
import { type IncrementPlan, planIncrement } from "./writePlan.ts";

type Step =
  /** Another client writes the document; the functions publish what they have found on shards. */
  | readonly ["others" | "publish", by: number]
  /** So many others write that the marks of before are gone. */
  | readonly ["crowd"]
  /** A server deletes the document, and the watch shows that. */
  | readonly ["delete"]
  /** This client makes an increment: in a transaction, or by the queue, which the SDK shows at once. */
  | readonly ["transaction" | "queue", by: number]
  /** A write reaches the server; its outcome reaches the client. */
  | readonly ["arrive" | "hear", which: number]
  /** A refused increment is made again in the generation that the client knows, or fails. */
  | readonly ["again" | "fail", which: number]
  /** The client receives the next version of the document, or the latest; or the same from its cache. */
  | readonly ["next" | "latest" | "cached"];

interface Version {
  readonly total: number;
  readonly asOf: number;
  readonly generation: number;
  /** Nonces by slot. */
  readonly marks: Readonly<Record<string, readonly Uint8Array[]>>;
  /** The own increments that the total includes. */
  readonly includes: readonly Own[];
}

interface Own {
  readonly by: number;
  readonly isQueued: boolean;
  readonly call: { _plan: IncrementPlan };
  state: "sent" | "committed" | "refused" | "heard of refusal" | "acknowledged" | "failed";
  known?: OwnIncrement;
}

/** No document, to which no increment of before is missing. */
const MISSING: Version = { total: 0, asOf: 0, generation: 0, marks: {}, includes: [] };

class World {
  readonly client = new OptimisticTotal();
  readonly own: Own[] = [];
  readonly #versions: Version[];
  #received = 0;
  /** The version that the watch shows. */
  #watched: Version | undefined;
  #nonces = 0;

  constructor(total: number, asOf: number) {
    this.#versions = [asOf ? { total, asOf, generation: 3, marks: {}, includes: [] } : MISSING];
    this.#show();
  }

  happen([does, number = 0]: Step): void {
    const stored = this.#versions.at(-1) as Version;
    switch (does) {
      case "others":
        this.#write(number, this.#nonce(), stored.generation + Number(isFull(stored)));
        break;
      case "crowd":
        for (let n = 0; n < DIRECT_SLOTS * MAX_DIRECT_MARKS; n++) this.happen(["others", 1]);
        break;
      case "delete":
        // A client that has not seen the document cannot tell, nor one that does not know what was committed.
        if (this.watched.asOf === 0) break;
        if (this.own.some(({ state, isQueued }) => state === "committed" || (isQueued && !isOver(state)))) break;
        this.#versions.push({ ...MISSING, includes: this.own.filter(({ state }) => state === "acknowledged") });
        this.happen(["latest"]);
        break;
      case "publish": {
        const { generation, marks } = stored;
        const next = generation + Number(isFull(stored));
        const { [`${next % DIRECT_SLOTS}`]: _, ...kept } = marks;
        const isNext = next > generation;
        const changed = { generation: next, marks: isNext ? kept : marks };
        this.#versions.push({ ...stored, ...changed, total: stored.total + number, asOf: stored.asOf + 1 });
        break;
      }
      case "transaction":
      case "queue":
        this.#issue(number, does === "queue");
        break;
      case "arrive": {
        const own = pick(this.own, number, ["sent"]);
        if (!own) break;
        const { nonce, generation = 0 } = own.call._plan;
        own.state = this.#write(own.by, nonce, generation, own) ? "committed" : "refused";
        break;
      }
      case "hear": {
        const own = pick(this.own, number, ["committed", "refused"]);
        if (!own) break;
        own.state = own.state === "committed" ? "acknowledged" : "heard of refusal";
        if (own.state === "acknowledged") this.client._incrementCommitted(own.known as OwnIncrement, stored.asOf);
        // The SDK first shows the document without the write.
        else this.#show();
        break;
      }
      case "again": {
        const own = pick(this.own, number, ["heard of refusal"]);
        if (!own) break;
        own.call._plan = this.#plan(own.by);
        own.state = "sent";
        if (own.isQueued) this.#show();
        break;
      }
      case "fail": {
        const own = pick(this.own, number, ["heard of refusal"]);
        if (!own) break;
        own.state = "failed";
        this.client._incrementDropped(own.known as OwnIncrement);
        break;
      }
      case "next":
        this.#received = Math.min(this.#received + 1, this.#versions.length - 1);
        this.#show();
        break;
      case "latest":
        this.#received = this.#versions.length - 1;
        this.#show();
        break;
      case "cached":
        this.#show(true);
    }
  }

  /** Everything arrives, and nothing is left open. */
  settle(): void {
    for (let n = 0; this.own.some(({ state }) => !isOver(state)); n++) {
      expect(n).toBeLessThan(1_000);
      for (const step of [["publish", 0], ["arrive", n], ["hear", 0], ["latest"], ["again", 0]] as const)
        this.happen(step);
    }
    this.happen(["latest"]);
  }

  get received(): Version {
    return this.#versions[this.#received] as Version;
  }

  get watched(): Version {
    return this.#watched as Version;
  }

  /** The own increments that count, or may: those that the watched version does not include are added to it. */
  get missing(): Own[] {
    return this.own.filter((own) => own.state !== "failed" && !this.watched.includes.includes(own));
  }

  /** The own increments whose marks may have been removed from the watched version before the client heard of them. */
  get unsure(): Own[] {
    return this.own.filter(
      (own) =>
        this.watched.includes.includes(own) &&
        own.state !== "acknowledged" &&
        this.#isTooOld(own.call._plan, this.watched),
    );
  }

  #issue(by: number, isQueued: boolean): void {
    const own: Own = { by, isQueued, call: { _plan: this.#plan(by) }, state: "sent" };
    own.known = this.client._incrementMade(by, {}, false, own.call);
    this.own.push(own);
    if (isQueued) this.#show();
  }

  #plan(by: number): IncrementPlan {
    const generation = this.received.generation + Number(isFull(this.received));
    return { ...planIncrement("c/x", generation, by, 0, () => 0), nonce: this.#nonce() };
  }

  #nonce(): Uint8Array {
    return Uint8Array.of(this.#nonces >> 8, this.#nonces++);
  }

  /** @returns whether the rules accept it */
  #write(by: number, nonce: Uint8Array, generation: number, own?: Own): boolean {
    const stored = this.#versions.at(-1) as Version;
    if (generation !== stored.generation + Number(isFull(stored))) return false;
    const [name, next] = [`${generation % DIRECT_SLOTS}`, `${(generation + 1) % DIRECT_SLOTS}`];
    const { [next]: _, ...marks } = { ...stored.marks, [name]: [...(stored.marks[name] ?? []), nonce] };
    const includes = own ? [...stored.includes, own] : stored.includes;
    const asOf = Math.max(stored.asOf, 0.5);
    this.#versions.push({ total: stored.total + by, asOf, generation, marks, includes });
    return true;
  }

  /** The SDK shows the received version, with the writes in its queue that it does not include. */
  #show(fromCache = false): void {
    const { received } = this;
    const queued = this.own.filter(
      (own) =>
        own.isQueued &&
        ["sent", "committed", "refused", "acknowledged"].includes(own.state) &&
        !received.includes.includes(own),
    );
    // The watch leaves such a view out.
    if (this.#watched && queued.length > 0) return;
    this.#watched = received;
    const has = ({ nonce, slot }: IncrementPlan) =>
      received.marks[slot]?.includes(nonce) || queued.some(({ call }) => call._plan.nonce === nonce);
    const total = queued.reduce((sum, { by }) => sum + by, received.total);
    const { asOf } = received;
    const hasMark = (plan: IncrementPlan) => has(plan) || (this.#isTooOld(plan, received) ? undefined : false);
    this.client._totalRead({ total, asOf, version: asOf, source: fromCache ? "cache" : "server", hasMark });
  }

  #isTooOld({ generation = 0 }: IncrementPlan, { generation: current }: Version): boolean {
    return current >= generation + DIRECT_SLOTS - 1;
  }
}

/** Whether the increment has its outcome. */
function isOver(state: Own["state"]): boolean {
  return state === "acknowledged" || state === "failed";
}

function isFull({ generation, marks }: Version): boolean {
  return (marks[`${generation % DIRECT_SLOTS}`]?.length ?? 0) >= MAX_DIRECT_MARKS;
}

function pick(own: readonly Own[], which: number, states: readonly Own["state"][]): Own | undefined {
  const among = own.filter(({ state }) => states.includes(state));
  return among[which % among.length];
}

const by = fc.integer({ min: 1, max: 9 });
const which = fc.nat(9);
const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
const steps = fc.array(
  fc.oneof(
    weighted(5, fc.tuple(fc.constant("others"), by)),
    weighted(2, fc.tuple(fc.constant("publish"), by)),
    weighted(1, fc.constantFrom(["crowd"], ["delete"])),
    weighted(4, fc.tuple(fc.constantFrom("transaction", "queue"), by)),
    weighted(5, fc.tuple(fc.constant("arrive"), which)),
    weighted(5, fc.tuple(fc.constant("hear"), which)),
    weighted(3, fc.tuple(fc.constantFrom("again", "again", "fail"), which)),
    weighted(5, fc.constantFrom(["next"], ["latest"], ["latest"], ["cached"])),
  ),
  { maxLength: 60, size: "max" },
);
const worlds = fc.tuple(fc.nat(50), fc.constantFrom(0, 0.5, 1_000)).map((of) => new World(...of));

const total = (own: readonly Own[]) => own.reduce((sum, one) => sum + one.by, 0);

test("the shown total has each own direct increment once, from the call on, until it fails", () => {
  fc.assert(
    fc.property(worlds, steps, (world, all) => {
      for (const step of all) {
        world.happen(step);
        const exact = world.watched.total + total(world.missing);
        const shown = world.client._total;
        expect(shown, JSON.stringify(step)).toBeGreaterThanOrEqual(exact);
        expect(shown, JSON.stringify(step)).toBeLessThanOrEqual(exact + total(world.unsure));
        expect(world.client._pending).toBe(world.own.some(({ state }) => !isOver(state)));
      }
    }),
    runs(2_000),
  );
});

test("after all outcomes and the last version, that total is shown, and nothing is pending", () => {
  fc.assert(
    fc.property(worlds, steps, (world, all) => {
      for (const step of all) world.happen(step);
      world.settle();
      expect(world.client._total).toBe(world.watched.total);
      expect(world.client._pending).toBe(false);
    }),
    runs(500),
  );
});
