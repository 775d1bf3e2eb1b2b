/**
 * The oracle is a model of a server, whose clock increases strictly in whole microseconds and which commits each increment
 * at one instant. Its totals reach the client late, twice and in any order. The model knows the commit times of the client's
 * own increments; `OptimisticTotal` knows only bounds.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../testing/runs.ts";
import { OptimisticTotal, type OwnIncrement } from "./optimisticTotal.ts";

/** One event. `which` chooses among the increments or totals it can happen to; without any, nothing happens. */
type Step =
  /** Another client's increment is committed; this client makes one; a buffer of this client collects one. */
  | readonly ["others" | "issue" | "buffer", by: number]
  /** This client likes with one of its `once`, or takes back the like before. */
  | readonly ["toggle", once: number]
  /** The buffer writes its sum. */
  | readonly ["flush"]
  /** An own increment is committed; is refused. */
  | readonly ["commit" | "refuse", which: number]
  /** An own increment is acknowledged, with an upper bound `slack` after its commit time. */
  | readonly ["acknowledge", which: number, slack: number]
  /** The server measures the total; the client receives a measured one, once or not for the last time. */
  | readonly ["measure"]
  | readonly ["receive", which: number, again: "once" | "again"]
  /** The device goes offline: the last total arrives again, from the cache. */
  | readonly ["offline"]
  | readonly ["wait", micros: number];

/** How the client reads its first total. */
type Start =
  /** Read from the server before any own increment. */
  | "served"
  /** The server has no such counter. */
  | "new"
  /** Read from the cache after the first steps; older than all of them. */
  | "cached"
  /** After the first steps, not in the cache. */
  | "not cached"
  /** Read from the server after the first steps; includes those that were committed. */
  | "served late";

/** One own increment, as the model knows it. */
interface Own {
  readonly by: number;
  readonly once: number | undefined;
  readonly known: OwnIncrement;
  readonly wasBuffered: boolean;
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
  /** The latest total that the client has received. */
  last: Total | undefined;
  buffered = 0;
  #now = 100;
  #base: number;
  #commits: { by: number; at: number }[] = [];
  #measuredTotals: Total[] = [];

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
      case "toggle": {
        const likes = sum(this.own.filter(({ once, outcome }) => once === step[1] && outcome !== "refused"));
        this.#issue(likes > 0 ? -1 : 1, false, step[1]);
        break;
      }
      case "buffer":
        this.#buffer(step[1]);
        break;
      case "flush": {
        const by = this.buffered;
        if (by === 0) break;
        this.#buffer(-by);
        this.#issue(by, true);
        break;
      }
      case "commit": {
        const own = pick(this.#undecided, step[1]);
        if (own) this.#commit(own);
        break;
      }
      case "refuse": {
        // Of those with `once` the last one: without one in between, the next would not count.
        const own = pick(
          this.#undecided.filter((one) => this.sequences.some((increments) => increments.at(-1) === one)),
          step[1],
        );
        if (!own) break;
        own.outcome = "refused";
        this.client._incrementDropped(own.known);
        // A buffer keeps a refused sum for its next write.
        if (own.wasBuffered) this.#buffer(own.by);
        break;
      }
      case "acknowledge": {
        const own = pick(this.unacknowledged, step[1]);
        if (own) this.#acknowledge(own, step[2]);
        break;
      }
      case "measure":
        this.#measuredTotals.push(this.#measured());
        break;
      case "receive": {
        const total = pick(this.#measuredTotals, step[1]);
        if (!total || !this.last) break;
        if (step[2] === "once") this.#measuredTotals.splice(this.#measuredTotals.indexOf(total), 1);
        this.#receive(total);
        break;
      }
      case "offline":
        if (this.last) this.client._totalRead({ ...this.last, version: this.last.asOf, source: "cache" });
        break;
      case "wait":
        this.#now += step[1];
    }
  }

  /** All increments are written, committed and acknowledged, and one more total is published. */
  settle(): void {
    this.happen(["flush"]);
    while (this.#undecided.length > 0) for (const own of this.#undecided) this.#commit(own);
    for (const own of this.unacknowledged) this.#acknowledge(own, 0);
    this.#now = Math.max(this.#now, ...this.own.map(({ latest }) => latest).filter(Number.isFinite));
    this.#receive(this.#measured());
  }

  /** The counter is deleted with its committed increments. No older total arrives afterwards. */
  delete(): void {
    this.#base = 0;
    this.#commits = [];
    this.#measuredTotals = [];
    this.last = { total: 0, asOf: 0 };
    this.client._totalRead({ total: 0, asOf: 0, version: 0, source: "server" });
  }

  get unacknowledged(): Own[] {
    return this.own.filter(({ committed, outcome }) => committed !== undefined && !outcome);
  }

  /** Whether the client does not know the outcome of an increment. */
  get pending(): boolean {
    return this.buffered !== 0 || this.own.some(({ outcome }) => !outcome);
  }

  /** The sum of the client's own increments that were not refused. */
  get made(): number {
    return this.buffered + sum(this.own.filter(({ outcome }) => outcome !== "refused"));
  }

  /** The ideal total to show: the last one, and the own increments that it does not include. */
  get truth(): number {
    const { total, asOf } = this.last as Total;
    const missing = this.own.filter(
      ({ outcome, committed = Number.POSITIVE_INFINITY }) => outcome !== "refused" && committed > asOf,
    );
    return total + this.buffered + sum(missing);
  }

  /** The lowest and the highest total that may be true for all that the client knows. */
  get range(): readonly [low: number, high: number] {
    const { total, asOf } = this.last as Total;
    const possible = this.sequences.map((increments) => {
      const splits = increments.map((_, included) => included).concat(increments.length);
      return splits
        .filter((included) => increments.slice(0, included).every(({ earliest }) => earliest <= asOf))
        .filter((included) => increments.slice(included).every(({ latest }) => latest > asOf))
        .map((included) => sum(increments.slice(included)));
    });
    const certain = total + this.buffered;
    return [
      possible.reduce((low, sums) => low + Math.min(...sums), certain),
      possible.reduce((high, sums) => high + Math.max(...sums), certain),
    ];
  }

  /** The own increments that were not refused: those with the same `once` together, each other one alone. */
  get sequences(): Own[][] {
    const counting = this.own.filter(({ outcome }) => outcome !== "refused");
    return [...Map.groupBy(counting, (own) => own.once ?? own).values()];
  }

  /** Own increments that are neither committed nor refused, of each `once` the first. */
  get #undecided(): Own[] {
    return this.sequences.flatMap((increments) =>
      increments.filter(({ committed }) => committed === undefined).slice(0, 1),
    );
  }

  #measured(): Total {
    return { total: this.#base + sum(this.#commits), asOf: this.#now };
  }

  #issue(by: number, wasBuffered: boolean, once?: number): void {
    const earliest = (this.last?.asOf ?? 0) + 1;
    this.own.push({
      by,
      once,
      wasBuffered,
      earliest,
      latest: Number.POSITIVE_INFINITY,
      known: this.client._incrementMade(by, once, by < 0),
    });
  }

  #buffer(by: number): void {
    this.buffered += by;
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
    this.client._totalRead({ ...total, version: total.asOf, source: fromCache ? "cache" : "copy" });
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

function steps(by: fc.Arbitrary<number>, { alone = false, toggles = true } = {}): fc.Arbitrary<Step[]> {
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
  const step = fc.oneof(
    weighted(alone ? 0 : 2, fc.tuple(fc.constant("others"), by)),
    weighted(3, fc.tuple(fc.constant("issue"), by)),
    weighted(toggles ? 3 : 0, fc.tuple(fc.constant("toggle"), fc.nat(2))),
    weighted(1, fc.tuple(fc.constant("buffer"), by)),
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
const RUNS = runs(2_000);

test("with own increments alone, the shown total is always the first total plus all of them", () => {
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

test("if all amounts are positive, the shown total never falls, except by a refusal, and never exceeds the truth", () => {
  const counts = fc.nat(50);
  const adding = steps(positive, { toggles: false });
  fc.assert(
    fc.property(counts, fc.constantFrom(...starts), adding, adding, (initial, start, before, after) => {
      const world = new World(initial, start, before);
      for (const step of after) {
        const [shown, made] = [world.client._total, world.made];
        world.happen(step);
        // At most the refused amount: less if increments of others have made up for it.
        const refused = step[0] === "refuse" ? made - world.made : 0;
        expect(world.client._total).toBeGreaterThanOrEqual(shown - refused);
        expect(world.client._total).toBeLessThanOrEqual(world.truth);
      }
    }),
    RUNS,
  );
});

test("the refusal of an increment that no total can include subtracts exactly its amount", () => {
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
        world.client._incrementDropped(refused);
        expect(world.client._total).toBe(shown);
      },
    ),
    RUNS,
  );
});

test("in any sequence of events, the shown total is within the possible range, and true when the range is one number", () => {
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

test("a user who toggles a like moves the shown total by one at most from what the server counts", () => {
  const toggling = steps(anySign, { alone: true }).map((all) =>
    all.map((step) => (["issue", "buffer", "toggle"].includes(step[0]) ? (["toggle", 0] as const) : step)),
  );
  fc.assert(
    fc.property(toggling, (all) => {
      const world = new World(0, "served", []);
      for (const step of all) {
        world.happen(step);
        const { total } = world.last as Total;
        expect(Math.abs(world.client._total - total)).toBeLessThanOrEqual(1);
        expect([0, 1]).toContain(world.client._total);
      }
    }),
    RUNS,
  );
});

test.each([
  ["has", 11, 2],
  ["lacks", 10, 2],
  ["lacks, and is older", 10, 1],
])(
  "the total of a page that is opened after an increment, and %s it, shows the increment once",
  (_, total, version) => {
    const client = new OptimisticTotal();
    client._totalRead({ total: 10, asOf: 1, version: 1, source: "server" });
    const own = client._incrementMade(1);
    client._totalRead({ total, asOf: 0, version, source: "page" });
    expect(client._total).toBe(11);
    client._incrementCommitted(own, 3);
    client._totalRead({ total: 10, asOf: 2, version: 2, source: "server" });
    expect(client._total).toBe(11);
    client._totalRead({ total: 11, asOf: 3, version: 3, source: "server" });
    expect(client._total).toBe(11);
  },
);

test("a copy that is older than the total is not shown, and drops no increment", () => {
  const client = new OptimisticTotal();
  client._totalRead({ total: 10, asOf: 5, version: 5, source: "server" });
  client._incrementCommitted(client._incrementMade(1), 6);
  expect(client._totalRead({ total: 9, asOf: 4, version: 4, source: "copy" })).toBe(false);
  expect(client._total).toBe(11);
});

test("a vote that is changed moves the total by two", () => {
  const client = new OptimisticTotal();
  client._totalRead({ total: 10, asOf: 1, version: 1, source: "copy" });
  client._incrementMade(-1, "ada", true);
  client._incrementMade(-1, "ada", false);
  expect(client._total).toBe(8);
  client._totalRead({ total: 9, asOf: 2, version: 2, source: "copy" });
  expect(client._total).toBe(8);
});

test("of two increments in a row with the same `once` one counts", () => {
  const client = new OptimisticTotal();
  client._totalRead({ total: 10, asOf: 1, version: 1, source: "copy" });
  client._incrementMade(1, "ada");
  const unlike = client._incrementMade(-1, "ada", true);
  client._incrementMade(1, "ada");
  client._incrementMade(1, "ada");
  expect(client._total).toBe(11);
  client._incrementDropped(unlike);
  expect(client._total).toBe(11);
  client._totalRead({ total: 11, asOf: 2, version: 2, source: "copy" });
  expect(client._total).toBe(11);
});

test("after all acknowledgements and one more total, that total is shown and nothing is pending", () => {
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

test("after the counter is deleted, committed increments are dropped and pending ones are still shown", () => {
  const all = steps(anySign, { toggles: false });
  fc.assert(
    fc.property(totals, all, all, (initial, before, after) => {
      const world = new World(initial, "served", []);
      for (const step of before) world.happen(step);

      const shown = world.client._total;
      world.client._totalRead({ total: 0, asOf: 0, version: 0, source: "cache" });
      expect(world.client._total, "a cache without the counter does not prove a deletion").toBe(shown);

      world.delete();
      expect(world.client._total).toBe(world.buffered + sum(world.own.filter(({ outcome }) => !outcome)));
      expect(world.client._pending).toBe(world.pending);

      for (const step of after) world.happen(step);
      world.settle();
      expect(world.client._total).toBe(world.last?.total);
      expect(world.client._pending).toBe(false);
    }),
    RUNS,
  );
});
