/**
 * A register against a model of the documents it writes: what was committed and was not, which only a failing database
 * shows. Its way through the real one is in `test/admin.test.ts`.
 */
import fc from "fast-check";
import type { Firestore } from "firebase-admin/firestore";
import { expect, test, vi } from "vitest";
import { Register } from "./register.ts";

/** What becomes of one call: done; done, but not heard of; not done, not heard of; refused. Or it is folded first. */
type Fate = "done" | "lost answer" | "lost call" | "refused" | "folded";

/** Shards and notes, with preconditions and `maximum` as Firestore has them. */
class Database {
  readonly documents = new Map<string, Record<string, number>>();
  base = 0;
  fates: Fate[] = [];

  get total(): number {
    let sum = this.base;
    for (const [path, { count }] of this.documents) if (path.includes("/shards/")) sum += count ?? 0;
    return sum;
  }

  readonly firestore = {
    collection: () => ({ doc: () => ({ id: Math.random().toString(36).slice(2) }) }),
    doc: (path: string) => ({
      path,
      get: async () => ({ get: (field: string) => this.documents.get(path)?.[field] }),
      update: (fields: Record<string, unknown>) => this.#commit([["update", path, fields]]),
    }),
    batch: () => {
      const writes: [string, string, Record<string, unknown>][] = [];
      return {
        create: ({ path }: { path: string }, fields: Record<string, unknown>) => writes.push(["create", path, fields]),
        commit: () => this.#commit(writes),
      };
    },
  } as unknown as Firestore;

  async #commit(writes: [kind: string, path: string, fields: Record<string, unknown>][]): Promise<void> {
    const fate = this.fates.shift() ?? "done";
    if (fate === "folded") this.#fold();
    if (fate === "refused") throw { code: 7 };
    if (fate !== "lost call") this.#apply(writes);
    if (fate.startsWith("lost")) throw { code: 14 };
  }

  #apply(writes: [kind: string, path: string, fields: Record<string, unknown>][]): void {
    for (const [kind, path] of writes) {
      if (kind === "create" && this.documents.has(path)) throw { code: 6 };
      if (kind === "update" && !this.documents.has(path)) throw { code: 5 };
    }
    for (const [, path, { count }] of writes) {
      const to = operand(count);
      const document = this.documents.get(path) ?? {};
      this.documents.set(path, to === undefined ? document : { count: Math.max(document.count ?? to, to) });
    }
  }

  #fold(): void {
    for (const [path, { count = 0 }] of [...this.documents]) {
      if (!path.includes("/shards/")) continue;
      this.base += count;
      this.documents.delete(path);
      this.documents.set(path.replace("/shards/", "/registers/"), { folded: count });
    }
  }
}

/** What a transform carries. */
function operand(transform: unknown): number | undefined {
  return (transform as { operand?: number } | undefined)?.operand;
}

vi.mock("node:timers/promises", () => ({ setTimeout: async () => {} }));
vi.mock("firebase-admin/firestore", () => ({
  FieldValue: { maximum: (operand: number) => ({ operand }), serverTimestamp: () => ({}) },
}));

const fates = fc.array(fc.constantFrom<Fate>("done", "lost answer", "lost call", "refused", "folded"), {
  maxLength: 8,
});

test("whatever becomes of the calls: acknowledged increments count once, rejected ones at most once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fates), { maxLength: 8 }), async (steps) => {
      const database = new Database();
      const register = new Register(database.firestore, "c/x", "add");
      let acknowledged = 0;
      let maybe = 0;
      for (const [by, fate] of steps) {
        database.fates = fate;
        const outcome = await register.add(by).then(
          () => "counts",
          (error) => error.code,
        );
        if (outcome === "counts") acknowledged += by;
        else if (outcome === "counter/unknown-outcome") maybe += by;
        else expect(outcome).toBe(7);
        expect(database.total).toBeGreaterThanOrEqual(acknowledged);
        expect(database.total).toBeLessThanOrEqual(acknowledged + maybe);
      }
    }),
    { numRuns: 2_000 },
  );
}, 60_000);

test("what is added after an unknown outcome does not hide behind it", async () => {
  const database = new Database();
  const register = new Register(database.firestore, "c/x", "add");
  await register.add(10);
  database.fates = ["lost answer", "refused"];
  await expect(register.add(5)).rejects.toMatchObject({ code: "counter/unknown-outcome" });
  database.fates = ["refused"];
  await expect(register.add(1)).rejects.toMatchObject({ code: 7 });
  await register.add(3);
  expect(database.total).toBe(18);
});
