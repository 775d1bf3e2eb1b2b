/**
 * Plain increments against a model of the documents they write: what was committed and was not, which only a failing
 * database shows. Their way through the real one is in `test/admin/increments.test.ts`.
 */

import fc from "fast-check";
import type { Firestore } from "firebase-admin/firestore";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { runs } from "../../core/testing/runs.ts";
import { counter } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

const HOUR = 3_600_000;

/** What becomes of one commit: done; done, but not heard of; not yet done, not heard of; not done, not heard of; refused. */
type Fate = "done" | "lost answer" | "late" | "lost call" | "refused" | "contended";

interface Write {
  readonly kind: "create" | "set";
  readonly path: string;
  readonly fields: { readonly count?: { operand: number }; readonly expireAt?: number };
}

let now = 0;
afterEach(() => vi.restoreAllMocks());

/** Shards and receipts with Firestore's preconditions, and calls that arrive after their timeout. */
class Database {
  readonly receipts = new Map<string, number>();
  readonly late: (() => void)[] = [];
  total = 0;
  reads = 0;
  commits = 0;
  fates: Fate[] = [];
  /** Called with each commit: time goes by. */
  onCommit = () => {};
  #names = 0;

  readonly firestore = {
    collection: (path: string) => ({ doc: () => this.#document(`${path}/${this.#names++}`) }),
    getAll: async () => [],
    doc: (path: string) => this.#document(path),
    batch: () => {
      const writes: Write[] = [];
      const put = (kind: Write["kind"]) => (document: { path: string }, fields: Write["fields"]) => {
        writes.push({ kind, path: document.path, fields });
      };
      return { create: put("create"), set: put("set"), commit: () => this.#commit(writes) };
    },
  } as unknown as Firestore;

  #document(path: string) {
    const get = async () => {
      this.reads++;
      return { exists: this.receipts.has(path), get: () => undefined };
    };
    return { path, get };
  }

  async #commit(writes: Write[]): Promise<void> {
    this.commits++;
    this.onCommit();
    const fate = this.fates.shift() ?? "done";
    if (fate === "refused") throw { code: 7 };
    if (fate === "contended") throw { code: 10 };
    if (fate === "late") this.late.push(() => this.#apply(writes));
    if (fate === "done" || fate === "lost answer") this.#apply(writes);
    if (fate !== "done") throw { code: 14 };
  }

  #apply(writes: Write[]): void {
    for (const [path, expireAt] of this.receipts) if (expireAt <= now) this.receipts.delete(path);
    if (writes.some(({ kind, path }) => kind === "create" && this.receipts.has(path))) throw { code: 6 };
    for (const { path, fields } of writes) {
      this.total += fields.count?.operand ?? 0;
      if (fields.expireAt) this.receipts.set(path, fields.expireAt);
    }
  }

  /** Delivers all calls that have timed out. */
  deliver(): void {
    for (const apply of this.late.splice(0)) {
      try {
        apply();
      } catch {
        // Refused: it was committed before.
      }
    }
  }
}

// Modules that other tests in this process have loaded have loaded the real ones, and what is loaded here has not.
vi.hoisted(() => vi.resetModules());
afterAll(() => {
  vi.resetModules();
});
vi.mock("node:timers/promises", () => ({ setTimeout: async () => {} }));
vi.mock("firebase-admin/firestore", () => ({
  FieldValue: { increment: (operand: number) => ({ operand }), serverTimestamp: () => ({}) },
  Timestamp: { fromMillis: (millis: number) => millis },
}));

function start() {
  const database = new Database();
  vi.spyOn(console, "warn").mockReturnValue();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  now = 1_700_000_000_000;
  return { database, ref: counter(database.firestore, "x") };
}

const fates = fc.array(fc.constantFrom<Fate>("done", "lost answer", "late", "lost call", "refused"), { maxLength: 8 });

test("with any failure of calls, acknowledged increments count once, rejected ones at most once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fates), { maxLength: 8 }), async (steps) => {
      const { database, ref } = start();
      let acknowledged = 0;
      let maybe = 0;
      for (const [by, fate] of steps) {
        database.fates = [...fate];
        const outcome = await incrementCounter(ref, by).then(
          () => "counts",
          (error) => error.code,
        );
        if (outcome === "counts") acknowledged += by;
        else if (outcome === "counter/unknown-outcome") maybe += by;
        else expect(outcome).toBe(7);
        if (fate[0] === "refused") expect(outcome).toBe(7);
        const judge = () => {
          expect(database.total).toBeGreaterThanOrEqual(acknowledged);
          expect(database.total).toBeLessThanOrEqual(acknowledged + maybe);
        };
        judge();
        database.deliver();
        judge();
      }
    }),
    runs(2_000),
  );
}, 60_000);

test("an increment that is refused after a lost response resolves if its receipt exists", async () => {
  const { database, ref } = start();
  database.fates = ["lost answer", "refused"];
  await incrementCounter(ref, 5);
  expect(database.total).toBe(5);
});

test("an increment that is refused after a lost call rejects with counter/unknown-outcome", async () => {
  const { database, ref } = start();
  database.fates = ["late", "refused"];
  await expect(incrementCounter(ref, 5)).rejects.toMatchObject({ code: "counter/unknown-outcome", cause: { code: 7 } });
  expect(database.total).toBe(0);
  database.deliver();
  expect(database.total).toBe(5);
});

test("an increment is retried for half a day, and never after its receipt may have expired", async () => {
  for (const [fate, outcome] of [
    ["lost answer", "counts"],
    ["lost call", "counter/unknown-outcome"],
  ] as const) {
    const { database, ref } = start();
    const begin = now;
    database.fates = [fate, ...Array.from({ length: 99 }, () => "lost call" as const)];
    database.onCommit = () => {
      now += HOUR / 2;
    };
    const said = await incrementCounter(ref, 5).then(
      () => "counts",
      (error) => error.code,
    );
    expect(said).toBe(outcome);
    expect(now - begin).toBeGreaterThanOrEqual(12 * HOUR);
    expect(now - begin).toBeLessThan(13 * HOUR);
    for (const expireAt of database.receipts.values()) expect(expireAt).toBeGreaterThanOrEqual(begin + 24 * HOUR);
  }
});

test("sequential calls cost a commit each, and a read in twenty; 1,000 at once cost one commit", async () => {
  const { database, ref } = start();
  for (let n = 0; n < 100; n++) await incrementCounter(ref);
  expect(database).toMatchObject({ commits: 100, reads: 5, total: 100 });
  await Promise.all(Array.from({ length: 1_000 }, () => incrementCounter(ref)));
  expect(database).toMatchObject({ commits: 101, reads: 6, total: 1_100 });
  now += 60_000;
  await incrementCounter(ref);
  expect(database).toMatchObject({ commits: 102, reads: 7 });
});

test("a contended commit is retried on another shard, after a read of the shard count", async () => {
  const { database, ref } = start();
  await incrementCounter(ref);
  database.fates = ["contended", "done"];
  database.onCommit = () => {
    now += 1_500;
  };
  await incrementCounter(ref);
  expect(database).toMatchObject({ commits: 3, total: 2 });
  expect(database.reads).toBe(1);
  await incrementCounter(ref);
  expect(database.reads).toBe(2);
});
