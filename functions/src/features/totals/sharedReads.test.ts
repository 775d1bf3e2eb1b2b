import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runs } from "../../../../core/testing/runs.ts";
import {
  createSharedReads,
  MAX_COUNTERS,
  MISSING_PER_ADDRESS,
  MISSING_PER_INSTANCE,
  type Reading,
} from "./sharedReads.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Of requests from one address. */
function sharedReads(...[read, now]: Parameters<typeof createSharedReads>) {
  const shared = createSharedReads(read, now);
  return (ids: readonly string[], address = "1.2.3.4") => shared(ids, address);
}

/** A database in which a read takes `latency`, and a total is the time of the read, less `lag`. Made-up counters have none. */
function database() {
  const settings = { latency: 10, lag: 0, isDown: false };
  const reads: { id: string; at: number }[] = [];
  const batches: (readonly string[])[] = [];
  const read = async (ids: readonly string[]) => {
    batches.push(ids);
    reads.push(...ids.map((id) => ({ id, at: Date.now() })));
    const { isDown, latency, lag } = settings;
    const asOf = Date.now() - lag;
    await new Promise((resolve) => setTimeout(resolve, latency));
    if (isDown) throw new Error("down");
    const real = ids.filter((id) => !id.startsWith("made up"));
    return new Map(real.map((id): [string, Reading] => [id, { total: asOf, asOf, nextDue: 0 }]));
  };
  return { settings, reads, batches, shared: sharedReads(read, Date.now) };
}

const advance = (duration: number) => vi.advanceTimersByTimeAsync(duration);

test("a counter is read once a second at most, and no answer is older than the one before", async () => {
  const requests = fc.array(
    fc.record({
      after: fc.nat(1_500),
      ids: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1 }),
      latency: fc.nat(2_500),
      lag: fc.nat(3_000),
    }),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(requests, async (list) => {
      const { settings, reads, shared } = database();
      const seen = new Map<string, number>();
      const answers: Promise<void>[] = [];
      for (const { after, ids, latency, lag } of list) {
        await advance(after);
        Object.assign(settings, { latency, lag });
        answers.push(
          shared(ids).then((readings) => {
            for (const [n, id] of ids.entries()) {
              const { asOf } = readings[n] as Reading;
              expect(asOf).toBeGreaterThanOrEqual(seen.get(id) ?? Number.NEGATIVE_INFINITY);
              seen.set(id, asOf);
            }
          }),
        );
      }
      await advance(10_000);
      await Promise.all(answers);
      for (const id of ["a", "b", "c", "d"]) {
        const times = reads.filter((read) => read.id === id).map(({ at }) => at);
        for (const [n, at] of times.slice(1).entries()) expect(at - (times[n] as number)).toBeGreaterThanOrEqual(1_000);
      }
    }),
    runs(200),
  );
});

describe("requests at once", () => {
  test("share what is being read, and what is due is read in one batch", async () => {
    const { batches, shared } = database();
    const answers = Promise.all([shared(["a", "b"]), shared(["b", "c", "d"]), shared(["d", "a"])]);
    await advance(10);
    expect(await answers).toHaveLength(3);
    expect(batches).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    await advance(1_000);
    void shared(["d", "a", "b", "c"]);
    expect(batches[2]).toEqual(["d", "a", "b", "c"]);
  });

  test("share a failure for a second, also one that is no answer, and then read again", async () => {
    const { settings, batches, shared } = database();
    settings.isDown = true;
    const failed = [shared(["a"]), shared(["a", "b"])].map((answer) => expect(answer).rejects.toThrow("down"));
    await advance(10);
    await Promise.all(failed);
    await expect(shared(["a"])).rejects.toThrow("down");
    expect(batches).toHaveLength(2);
    Object.assign(settings, { isDown: false, latency: 60_000 });
    await advance(1_000);
    const late = expect(shared(["a"])).rejects.toThrow("no answer within 5000 ms");
    await advance(5_000);
    await late;
    settings.latency = 10;
    const answer = shared(["a"]);
    await advance(10);
    expect((await answer)[0]?.asOf).toBe(6_010);
  });
});

test("a request that waits for one counter does not show another one as it was, if a newer total was shown meanwhile", async () => {
  const { settings, shared } = database();
  settings.latency = 3_000;
  const slow = shared(["slow"]);
  settings.latency = 10;
  const both = shared(["a", "slow"]);
  await advance(1_500);
  const newer = shared(["a"]);
  await advance(10);
  expect((await newer)[0]?.asOf).toBe(1_500);
  await advance(2_000);
  expect((await both)[0]?.asOf).toBe(1_500);
  await slow;
});

test("a counter that is forgotten and asked for again while it is being read has its total", async () => {
  const { settings, shared } = database();
  const others = Array.from({ length: MAX_COUNTERS }, (_, n) => `other ${n}`);
  for (let n = 0; n < MAX_COUNTERS; n += 500) {
    void shared(others.slice(n, n + 500));
    await advance(1_000);
  }
  settings.latency = 3_000;
  const slow = shared(["slow"]);
  void shared(others.slice(1));
  void shared(["another"]);
  await advance(1_000);
  void shared(["slow"]);
  await advance(2_000);
  expect((await slow)[0]?.total).toBeGreaterThan(0);
});

test("a counter that was deleted while a request waits for another one has no total in its answer", async () => {
  let total: number | undefined = 5;
  const read = async (ids: readonly string[]) => {
    const known = ids.flatMap((id): [string, Reading][] =>
      id === "a" && total === undefined ? [] : [[id, { total: 5, asOf: 1, nextDue: 0 }]],
    );
    if (ids.includes("slow")) await new Promise((resolve) => setTimeout(resolve, 3_000));
    return new Map(known);
  };
  const shared = sharedReads(read, Date.now);
  const slow = shared(["slow"]);
  const both = shared(["a", "slow"]);
  await advance(1_000);
  total = undefined;
  expect(await shared(["a"])).toEqual([undefined]);
  await advance(2_000);
  expect((await both)[0]).toBeUndefined();
  await slow;
});

describe("made-up counters", () => {
  let made = 0;
  const madeUp = (size: number) => Array.from({ length: size }, () => `made up ${made++}`);
  const isRefused = (answer: Promise<unknown>) =>
    answer.then(
      () => false,
      ({ status }) => status === 429,
    );

  test("that one address asks for are refused beyond its limit; others read counters that were not read before", async () => {
    const { reads, shared } = database();
    const readers: Promise<boolean>[] = [];
    let refused = 0;
    for (let ms = 0; ms < 10_000; ms += 10) {
      void isRefused(shared(madeUp(10), "attacker")).then((is) => (refused += Number(is)));
      if (ms % 100 === 0) readers.push(isRefused(shared([`cold ${ms}`, "known"], "reader")));
      await advance(10);
    }
    expect(await Promise.all(readers)).not.toContain(true);
    expect(refused).toBeGreaterThan(800);
    const { perSecond, burst } = MISSING_PER_ADDRESS;
    expect(reads.filter(({ id }) => id.startsWith("made up")).length).toBeLessThanOrEqual(burst + 10 * perSecond);
  });

  test("that many addresses ask for are refused in all, and those with a total are read", async () => {
    const { reads, shared } = database();
    const known = shared(["known"]);
    await advance(1_000);
    await known;
    for (let n = 0; n < 100; n++) void isRefused(shared(madeUp(100), `10.0.0.${n}`));
    const cold = isRefused(shared(["cold"], "10.0.1.1"));
    const many = isRefused(shared(madeUp(100), "10.0.1.2"));
    const again = shared(["known"]);
    await advance(10);
    expect((await again)[0]?.asOf).toBe(1_000);
    // After ten milliseconds there is room for a few again.
    await advance(10);
    expect([await cold, await many]).toEqual([false, true]);
    expect(reads).toHaveLength(1 + MISSING_PER_INSTANCE.burst + 1 + 1);
  });

  test("do not make an instance forget the others", async () => {
    const { reads, shared } = database();
    void shared(["known"]);
    for (let second = 0; second < 60; second++) {
      for (let n = 0; n < 5; n++) void isRefused(shared(madeUp(100), `${second}.0.0.${n}`));
      await advance(1_000);
    }
    void shared(["known"]);
    expect(reads.at(-1)?.id).toBe("known");
    const before = reads.length;
    await advance(10);
    void shared(["known"]);
    expect(reads).toHaveLength(before);
  });
});

test("a counter without a total is asked for after 1, 2, 4 and 8 seconds, then every ten", async () => {
  const { reads, shared } = database();
  for (let tenths = 0; tenths < 450; tenths++) {
    void shared(["made up"]);
    await advance(100);
  }
  expect(reads.map(({ at }) => Math.round(at / 1_000))).toEqual([0, 1, 3, 7, 15, 25, 35]);
});

test("of more counters than fit, those asked for last are remembered", async () => {
  const { reads, shared } = database();
  const ask = async (...ids: string[]) => {
    const answer = shared(ids);
    await advance(10);
    await answer;
  };
  await ask("first", "favorite");
  for (let second = 0; second < 21; second++) {
    await advance(1_000);
    await ask("favorite");
    for (let n = 0; n < 500; n += 100) await ask(...Array.from({ length: 100 }, (_, i) => `${second}/${n + i}`));
  }
  const before = reads.length;
  // Remembered for less than a second.
  await ask("favorite");
  expect(reads.length).toBe(before);
  // Forgotten.
  void shared(["first"]);
  expect(reads.length).toBe(before + 1);
});
