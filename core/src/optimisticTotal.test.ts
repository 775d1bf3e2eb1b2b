/**
 * The oracle is the world itself: a server with a strictly increasing clock in whole microseconds, on which everything
 * is committed at an instant; totals that were measured there and reach the client late, twice, in any order; and one
 * client, of whose own increments the world knows the commit time and `OptimisticTotal` only bounds.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { OptimisticTotal, type OwnIncrement } from "./optimisticTotal.ts";

/** What happens next. `which` chooses among those it can happen to; if there are none, nothing happens. */
type Step =
  /** An increment of another client is committed; the client makes one; a buffer of the client holds one back. */
  | readonly ["others" | "issue" | "hold", by: number]
  /** The buffer sends the sum of what it holds. */
  | readonly ["flush"]
  /** An own increment is committed; is refused. */
  | readonly ["commit" | "refuse", which: number]
  /** An own increment is acknowledged, with an upper bound that is `slack` above its commit time. */
  | readonly ["acknowledge", which: number, slack: number]
  /** The server measures the total; the client receives one that was measured, maybe not for the last time. */
  | readonly ["measure"]
  | readonly ["receive", which: number, again: "once" | "again"]
  /** The device goes offline: the last total comes again, from the cache. */
  | readonly ["offline"]
  | readonly ["wait", micros: number];

/** What the client knows of the total when the steps begin. */
type Start =
  /** Read from the server before any own increment. */
  | "served"
  /** Nothing was ever counted, says the server. */
  | "new"
  /** Read from the cache, after the steps before; older than all of them. */
  | "cached"
  /** Not in the cache, after the steps before. */
  | "not cached"
  /** Read from the server, after the steps before, of which it holds what was committed. */
  | "served late";

/** The world's view of one own increment. */
interface Own {
  readonly by: number;
  readonly known: OwnIncrement;
  readonly wasHeld: boolean;
  earliest: number;
  latest: number;
  committed?: number;
  outcome?: "acknowledged" | "refused";
}

interface Total {
  readonly total: number;
  readonly asOf: number;
}

class World {
  readonly client = new OptimisticTotal();
  readonly own: Own[] = [];
  /** The last total that the client took. */
  last: Total | undefined;
  held = 0;
  #now = 100;
  #base: number;
  #commits: { by: number; at: number }[] = [];
  #underWay: Total[] = [];

  constructor(initial: number, start: Start, before: readonly Step[]) {
    this.#base = start === "new" ? 0 : initial;
    const oldest = this.#measured();
    if (start === "served") this.#receive(oldest);
    if (start === "new") this.#receive({ total: 0, asOf: 0 });
    if (this.last) return;
    for (const step of before) this.happen(step);
    if (start === "cached") this.#receive(oldest, true);
    if (start === "not cached") this.#receive({ total: 0, asOf: 0 }, true);
    if (start === "served late") this.#receive(this.#measured());
  }

  happen(step: Step): void {
    switch (step[0]) {
      case "others":
        this.#commits.push({ by: step[1], at: ++this.#now });
        break;
      case "issue":
        this.#issue(step[1], false);
        break;
      case "hold":
        this.#hold(step[1]);
        break;
      case "flush": {
        const by = this.held;
        if (by === 0) break;
        this.#hold(-by);
        this.#issue(by, true);
        break;
      }
      case "commit": {
        const own = pick(this.#undecided, step[1]);
        if (own) this.#commit(own);
        break;
      }
      case "refuse": {
        const own = pick(this.#undecided, step[1]);
        if (!own) break;
        own.outcome = "refused";
        this.client._incrementRefused(own.known);
        // A buffer keeps what it could not write, for the next time.
        if (own.wasHeld) this.#hold(own.by);
        break;
      }
      case "acknowledge": {
        const own = pick(this.unacknowledged, step[1]);
        if (own) this.#acknowledge(own, step[2]);
        break;
      }
      case "measure":
        this.#underWay.push(this.#measured());
        break;
      case "receive": {
        const total = pick(this.#underWay, step[1]);
        if (!total || !this.last) break;
        if (step[2] === "once") this.#underWay.splice(this.#underWay.indexOf(total), 1);
        this.#receive(total);
        break;
      }
      case "offline":
        if (this.last) this.client._totalRead(this.last.total, this.last.asOf, true);
        break;
      case "wait":
        this.#now += step[1];
    }
  }

  /** Everything that was held back, sent or committed is acknowledged, and one more total is published. */
  settle(): void {
    this.happen(["flush"]);
    for (const own of this.#undecided) this.#commit(own);
    for (const own of this.unacknowledged) this.#acknowledge(own, 0);
    this.#now = Math.max(this.#now, ...this.own.map(({ latest }) => latest).filter(Number.isFinite));
    this.#receive(this.#measured());
  }

  /** The counter is deleted with all that was committed, and nothing older comes after that. */
  delete(): void {
    this.#base = 0;
    this.#commits = [];
    this.#underWay = [];
    this.last = { total: 0, asOf: 0 };
    this.client._totalRead(0, 0, false);
  }

  get unacknowledged(): Own[] {
    return this.own.filter(({ committed, outcome }) => committed !== undefined && !outcome);
  }

  /** Of the increments whose outcome the client does not know. */
  get pending(): boolean {
    return this.held !== 0 || this.own.some(({ outcome }) => !outcome);
  }

  /** The sum of the client's own increments that were not refused, wherever they are. */
  get made(): number {
    return this.held + sum(this.own.filter(({ outcome }) => outcome !== "refused"));
  }

  /** The total that views should show: the last one, and the own increments that it does not hold. */
  get truth(): number {
    const { total, asOf } = this.last as Total;
    const missing = this.own.filter(
      ({ outcome, committed = Number.POSITIVE_INFINITY }) => outcome !== "refused" && committed > asOf,
    );
    return total + this.held + sum(missing);
  }

  /** The lowest and the highest total that the client cannot exclude. Equal if it knows all. */
  get range(): readonly [low: number, high: number] {
    const { total, asOf } = this.last as Total;
    const notPast = this.own.filter(({ outcome, latest }) => outcome !== "refused" && latest > asOf);
    const certain = total + this.held + sum(notPast.filter(({ earliest }) => earliest > asOf));
    const open = notPast.filter(({ earliest }) => earliest <= asOf);
    return [certain + sum(open.filter(({ by }) => by < 0)), certain + sum(open.filter(({ by }) => by > 0))];
  }

  /** Those that are neither committed nor refused. */
  get #undecided(): Own[] {
    return this.own.filter(({ committed, outcome }) => committed === undefined && !outcome);
  }

  #measured(): Total {
    return { total: this.#base + sum(this.#commits), asOf: this.#now };
  }

  #issue(by: number, wasHeld: boolean): void {
    const earliest = (this.last?.asOf ?? 0) + 1;
    this.own.push({ by, wasHeld, earliest, latest: Number.POSITIVE_INFINITY, known: this.client._incrementMade(by) });
  }

  #hold(by: number): void {
    this.held += by;
    this.client._bufferedChanged(by);
  }

  #commit(own: Own): void {
    own.committed = ++this.#now;
    this.#commits.push({ by: own.by, at: own.committed });
  }

  #acknowledge(own: Own, slack: number): void {
    own.outcome = "acknowledged";
    own.latest = (own.committed as number) + slack;
    this.client._incrementCommitted(own.known, own.latest);
  }

  #receive(total: Total, fromCache = false): void {
    if (total.asOf >= (this.last?.asOf ?? 0)) this.last = total;
    if (fromCache) for (const own of this.own) own.earliest = Math.max(own.earliest, total.asOf + 1);
    this.client._totalRead(total.total, total.asOf, fromCache);
  }
}

function sum(increments: readonly { by: number }[]): number {
  return increments.reduce((total, { by }) => total + by, 0);
}

function pick<T>(among: readonly T[], which: number): T | undefined {
  return among[which % among.length];
}

const positive = fc.integer({ min: 1, max: 9 });
const anySign = fc.oneof(positive, fc.integer({ min: -9, max: -1 }));
const which = fc.nat(9);

function steps(by: fc.Arbitrary<number>, { alone = false } = {}): fc.Arbitrary<Step[]> {
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
  const step = fc.oneof(
    weighted(alone ? 0 : 2, fc.tuple(fc.constant("others"), by)),
    weighted(3, fc.tuple(fc.constant("issue"), by)),
    weighted(1, fc.tuple(fc.constant("hold"), by)),
    weighted(1, fc.constant(["flush"] as const)),
    weighted(3, fc.tuple(fc.constant("commit"), which)),
    weighted(1, fc.tuple(fc.constant("refuse"), which)),
    weighted(3, fc.tuple(fc.constant("acknowledge"), which, fc.constantFrom(0, 0, 1, 2, 5, 20))),
    weighted(3, fc.constant(["measure"] as const)),
    weighted(4, fc.tuple(fc.constant("receive"), which, fc.constantFrom("once", "again"))),
    weighted(1, fc.constant(["offline"] as const)),
    weighted(1, fc.tuple(fc.constant("wait"), fc.integer({ min: 1, max: 10 }))),
  );
  return fc.array(step, { maxLength: 40, size: "max" });
}

const starts: Start[] = ["served", "new", "cached", "not cached", "served late"];
const totals = fc.integer({ min: -50, max: 50 });
const RUNS = { numRuns: 2_000 };

test("with own increments only, what is shown is the first total and all of them, always: no dip, no double", () => {
  const exactStarts = fc.constantFrom(...starts.slice(0, 3));
  const own = steps(anySign, { alone: true });
  fc.assert(
    fc.property(totals, exactStarts, own, own, (initial, start, before, after) => {
      const world = new World(initial, start, before);
      const first = start === "new" ? 0 : initial;
      expect(world.client._total).toBe(first + world.made);
      for (const step of after) {
        world.happen(step);
        expect(world.client._total).toBe(first + world.made);
      }
    }),
    RUNS,
  );
});

test("while all clients add, what is shown never falls, but for a refusal, and never exceeds what there is", () => {
  const counts = fc.nat(50);
  const adding = steps(positive);
  fc.assert(
    fc.property(counts, fc.constantFrom(...starts), adding, adding, (initial, start, before, after) => {
      const world = new World(initial, start, before);
      for (const step of after) {
        const [shown, made] = [world.client._total, world.made];
        world.happen(step);
        // No more than its amount: less, where the totals of others have hidden that it was missing.
        const refused = step[0] === "refuse" ? made - world.made : 0;
        expect(world.client._total).toBeGreaterThanOrEqual(shown - refused);
        // Every increment was issued by a client, so this is no more than the first total and everything issued since.
        expect(world.client._total).toBeLessThanOrEqual(world.truth);
      }
    }),
    RUNS,
  );
});

test("a refusal of what no total can hold takes back its amount, exactly", () => {
  fc.assert(
    fc.property(
      totals,
      fc.constantFrom("served", "new", "cached"),
      steps(anySign),
      anySign,
      (initial, start, any, by) => {
        const world = new World(initial, start, []);
        for (const step of any) world.happen(step);
        const shown = world.client._total;
        const refused = world.client._incrementMade(by);
        expect(world.client._total).toBe(shown + by);
        world.client._incrementRefused(refused);
        expect(world.client._total).toBe(shown);
      },
    ),
    RUNS,
  );
});

test("whatever clients do, what is shown is within what can be, and the truth once that is known", () => {
  const all = steps(anySign);
  fc.assert(
    fc.property(totals, fc.constantFrom(...starts), all, all, (initial, start, before, after) => {
      const world = new World(initial, start, before);
      for (const step of [["offline"] as const, ...after]) {
        world.happen(step);
        const [low, high] = world.range;
        expect(low).toBeLessThanOrEqual(world.truth);
        expect(high).toBeGreaterThanOrEqual(world.truth);
        expect(world.client._total).toBeGreaterThanOrEqual(low);
        expect(world.client._total).toBeLessThanOrEqual(high);
        if (low === high) expect(world.client._total).toBe(world.truth);
        expect(world.client._pending).toBe(world.pending);
      }
    }),
    RUNS,
  );
});

test("when all is acknowledged and one more total has come, that is what is shown, and nothing is pending", () => {
  const all = steps(anySign);
  fc.assert(
    fc.property(totals, fc.constantFrom(...starts), all, all, (initial, start, before, after) => {
      const world = new World(initial, start, before);
      for (const step of after) world.happen(step);
      world.settle();
      expect(world.client._total).toBe(world.last?.total);
      expect(world.client._pending).toBe(false);
    }),
    RUNS,
  );
});

test("a counter that is deleted forgets what was committed, and shows what is still to come", () => {
  const all = steps(anySign);
  fc.assert(
    fc.property(totals, all, all, (initial, before, after) => {
      const world = new World(initial, "served", []);
      for (const step of before) world.happen(step);

      const shown = world.client._total;
      world.client._totalRead(0, 0, true);
      expect(world.client._total, "a cache without it is no proof").toBe(shown);

      world.delete();
      expect(world.client._total).toBe(world.held + sum(world.own.filter(({ outcome }) => !outcome)));
      expect(world.client._pending).toBe(world.pending);

      for (const step of after) world.happen(step);
      world.settle();
      expect(world.client._total).toBe(world.last?.total);
      expect(world.client._pending).toBe(false);
    }),
    RUNS,
  );
});

test("a counter that is deleted while nothing is under way starts again from nothing, exactly", () => {
  fc.assert(
    fc.property(totals, steps(anySign), steps(anySign, { alone: true }), (initial, before, after) => {
      const world = new World(initial, "served", []);
      for (const step of before) world.happen(step);
      world.settle();
      world.delete();
      const gone = world.made;
      expect(world.client._total).toBe(0);
      for (const step of after) {
        world.happen(step);
        expect(world.client._total).toBe(world.made - gone);
      }
    }),
    RUNS,
  );
});

test("a first total from the cache is older than any increment made: all of them are added to it", () => {
  fc.assert(
    fc.property(totals, steps(anySign), (initial, before) => {
      const world = new World(initial, "cached", before);
      expect(world.client._total).toBe(initial + world.made);
    }),
    RUNS,
  );
});
