/** A rate limiter against a model of its document, with delays that the test chooses. Real processes are in `test/admin`. */

import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { type Firestore, Timestamp } from "firebase-admin/firestore";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runs } from "../../core/testing/runs.ts";
import type { RateLimitResult } from "./keyLimiter.ts";
import type { RateLimitOptions } from "./leaseDecision.ts";
import { type RateLimiter, rateLimiter } from "./rateLimiter.ts";

let now = 0;
beforeEach(() => {
  now = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

/** The documents of a database whose time is `now`. Requests are executed, and answered, when the test says so. */
class Database {
  reads = 0;
  writes = 0;
  isAutomatic = true;
  /** The next writes fail with these codes. */
  failures: number[] = [];
  readonly requests: (() => void)[] = [];
  readonly answers: (() => void)[] = [];
  readonly #documents = new Map<string, { data: Record<string, unknown>; updated: number }>();
  #version = 0;

  readonly firestore = {
    getAll: async () => [],
    doc: (path: string) => ({
      path,
      get: () => this.#request(() => this.#read(path)),
      create: (data: Record<string, unknown>) => this.#request(() => this.#write(path, data, undefined)),
      update: (data: Record<string, unknown>, { lastUpdateTime }: { lastUpdateTime: Timestamp }) =>
        this.#request(() => this.#write(path, data, lastUpdateTime)),
    }),
  } as unknown as Firestore;

  #request<T>(execute: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.requests.push(() => {
        let outcome: () => void;
        try {
          const result = execute();
          outcome = () => resolve(result);
        } catch (error) {
          outcome = () => reject(error);
        }
        this.answers.push(outcome);
        if (this.isAutomatic) this.answer(0);
      });
      if (this.isAutomatic) this.execute(0);
    });
  }

  execute(nth: number): void {
    this.requests.splice(nth % this.requests.length, 1)[0]?.();
  }

  answer(nth: number): void {
    this.answers.splice(nth % this.answers.length, 1)[0]?.();
  }

  #read(path: string) {
    this.reads++;
    const stored = this.#documents.get(path);
    return {
      exists: stored !== undefined,
      get: (field: string) => stored?.data[field],
      readTime: timestamp(now),
      updateTime: stored && timestamp(stored.updated),
    };
  }

  #write(path: string, data: Record<string, unknown>, lastUpdateTime: Timestamp | undefined): void {
    const code = this.failures.shift();
    if (code) throw { code };
    const stored = this.#documents.get(path);
    if (!lastUpdateTime && stored) throw { code: 6 };
    if (lastUpdateTime && (!stored || !timestamp(stored.updated).isEqual(lastUpdateTime))) throw { code: 9 };
    this.writes++;
    // No two commits have the same time.
    this.#documents.set(path, { data, updated: now + ++this.#version / 1_000 });
  }
}

function timestamp(millis: number): Timestamp {
  const micros = Math.round(millis * 1_000);
  return new Timestamp(1_700_000_000 + Math.floor(micros / 1e6), (micros % 1e6) * 1_000);
}

/** Until no call can go on by itself. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await turn();
}

const limited = (retryAfter: number) => ({ allowed: false, retryAfter });

describe("one process", () => {
  test("shares a transaction among the calls of a turn, and the next one among those made meanwhile", async () => {
    const database = new Database();
    const { take } = rateLimiter(database.firestore, "api", { limit: 10, per: 1_000 });
    const first = Array.from({ length: 4 }, () => take("key"));
    database.isAutomatic = false;
    await settle();
    const second = Array.from({ length: 8 }, () => take("key"));
    while (database.requests.length > 0) {
      database.execute(0);
      database.answer(0);
      await settle();
    }
    expect(await Promise.all(first)).toEqual(Array(4).fill({ allowed: true }));
    expect((await Promise.all(second)).map(({ allowed }) => allowed)).toEqual([...Array(6).fill(true), false, false]);
    expect(database).toMatchObject({ reads: 2, writes: 2 });
  });

  test("knows without I/O when a refused call may succeed, for each amount", async () => {
    const database = new Database();
    const { take } = rateLimiter(database.firestore, "api", { limit: 10, per: 1_000, burst: 4 });
    expect(await take("key", 4)).toEqual({ allowed: true });
    for (let i = 0; i < 50; i++) expect(await take("key")).toEqual(limited(101));
    expect(await take("key", 3)).toEqual(limited(301));
    expect(database).toMatchObject({ reads: 1, writes: 1 });
    now += 100;
    expect(await take("key")).toEqual({ allowed: true });
  });

  test("serves a hot key from leases, and hands out nothing after their end", async () => {
    const database = new Database();
    const { take } = rateLimiter(database.firestore, "api", { limit: 1_000, per: 1_000 });
    for (let i = 0; i < 2_000; i++) {
      expect(await take("key")).toEqual({ allowed: true });
      now += 2;
    }
    expect(database.writes).toBeLessThan(40);
    const { reads } = database;
    now += 500;
    await take("key");
    expect(database.reads).toBe(reads + 1);
  });

  test("counts a lease's life from before the read, so a slow answer leaves less time for uses, or none", async () => {
    const database = new Database();
    const { take } = rateLimiter(database.firestore, "api", { limit: 1_000, per: 1_000 });
    const hot = async () => {
      for (let i = 0; i < 300; i++, now += 2) await take("key");
    };
    const readsAfter = async (delay: number) => {
      await hot();
      now += 600;
      database.isAutomatic = false;
      const slow = take("key");
      await settle();
      database.execute(0);
      database.answer(0);
      await settle();
      database.execute(0);
      now += delay;
      database.answer(0);
      await slow;
      database.isAutomatic = true;
      const { reads } = database;
      await take("key");
      return database.reads - reads;
    };
    expect(await readsAfter(490)).toBe(0);
    expect(await readsAfter(500)).toBe(1);
  });

  test("leases nothing to a single burst of calls", async () => {
    const database = new Database();
    const options = { limit: 100, per: 1_000, burst: 1_000 };
    const { take } = rateLimiter(database.firestore, "api", options);
    await Promise.all(Array.from({ length: 400 }, () => take("key")));
    // Another process has all the others.
    expect(await rateLimiter(database.firestore, "api", options).take("key", 600)).toEqual({ allowed: true });
  });

  test("drops the state of idle keys", async () => {
    const database = new Database();
    const { take } = rateLimiter(database.firestore, "api", { limit: 1, per: 3_600_000 });
    await take("idle");
    await take("idle");
    expect(database.reads).toBe(1);
    now += 20_000;
    await take("other");
    await take("idle");
    expect(database.reads).toBe(3);
  });

  test("tries again when another process writes first, and ends with counter/contention, which fails these calls alone", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const database = new Database();
    const { take } = rateLimiter(database.firestore, "api", { limit: 10, per: 1_000 });
    database.failures = [9, 6, 10];
    expect(await take("key")).toEqual({ allowed: true });
    database.failures = Array(20).fill(9);
    const failed = await Promise.allSettled([take("key"), take("key")]);
    expect(failed.map((one) => (one as PromiseRejectedResult).reason.code)).toEqual(
      Array(2).fill("counter/contention"),
    );
    database.failures = [7];
    await expect(take("key")).rejects.toEqual({ code: 7 });
    expect(await take("key", 9)).toEqual({ allowed: true });
  });
});

test.each([
  ["counter/invalid-key", "a/b", 1],
  ["counter/invalid-key", undefined, 1],
  ["counter/invalid-amount", "a", 0],
  ["counter/invalid-amount", "a", 11],
  ["counter/invalid-amount", "a", 1.5],
  ["counter/invalid-amount", "a", "1"],
])("%s before any I/O: take(%j, %j)", async (code, key, n) => {
  const database = new Database();
  const { take } = rateLimiter(database.firestore, "api", { limit: 10, per: 1_000 });
  await expect(take(key as string, n as number)).rejects.toMatchObject({ code });
  expect(database.reads).toBe(0);
});

test("a name that is no document id is refused", () => {
  const { firestore } = new Database();
  for (const name of ["", "a/b", {}, undefined]) {
    const make = () => rateLimiter(firestore, name as string, { limit: 1, per: 1 });
    expect(make).toThrow(expect.objectContaining({ code: "counter/invalid-option" }));
  }
});

describe("three processes", () => {
  type Step =
    | { readonly do: "wait"; readonly ms: number }
    | { readonly do: "take"; readonly by: number; readonly n: number; readonly times: number }
    | { readonly do: "execute" | "answer"; readonly nth: number };

  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.oneof(fc.nat(20), fc.nat(600)) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("take" as const),
        by: fc.nat(2),
        n: fc.integer({ min: 1, max: 3 }),
        times: fc.integer({ min: 1, max: 40 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("execute" as const, "answer" as const), nth: fc.nat(5) }) },
  );

  /** By how many uses the fullest window is beyond the rate alone. Calls that began and ended in a window have their uses there. */
  function largestBurst(uses: readonly { start: number; end: number; n: number }[], { limit, per }: RateLimitOptions) {
    let most = 0;
    for (const { start: begin } of uses) {
      for (const { end } of uses) {
        const within = uses.filter((use) => use.start >= begin && use.end <= end);
        most = Math.max(most, within.reduce((sum, { n }) => sum + n, 0) - ((end - begin) * limit) / per);
      }
    }
    return most;
  }

  test("never use more than the limit in any window, whatever their delays", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 3, max: 60 }), async (steps, burst) => {
        now = 1_000;
        const options: RateLimitOptions = { limit: 50, per: 1_000, burst };
        const database = new Database();
        database.isAutomatic = false;
        const processes: RateLimiter[] = [0, 1, 2].map(() => rateLimiter(database.firestore, "api", options));
        const uses: { start: number; end: number; n: number }[] = [];
        for (const one of steps) {
          if (one.do === "wait") now += one.ms;
          else if (one.do === "take") {
            for (let i = 0; i < one.times; i++) {
              const start = now;
              const heard = ({ allowed }: RateLimitResult) => {
                if (allowed) uses.push({ start, end: now, n: one.n });
              };
              void processes[one.by]?.take("key", one.n).then(heard, () => undefined);
            }
          } else if (database[one.do === "execute" ? "requests" : "answers"].length > 0) database[one.do](one.nth);
          await settle();
        }
        expect(largestBurst(uses, options)).toBeLessThanOrEqual(burst + 1e-6);
      }),
      runs(200),
    );
  });
});
