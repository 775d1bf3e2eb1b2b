/** A rate limit over real processes: never more than allowed, and little less. */
import { setTimeout as sleep } from "node:timers/promises";
import { rateLimiter } from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { type Call, largestBurst, now, Servers } from "./rateLimiterLoad.ts";

describe("eight servers on one key, with a limit of 800 a second", () => {
  const options = { limit: 800, per: 1_000 };
  let servers: Servers;
  beforeAll(async () => {
    servers = await Servers.start(8);
    // Connections and compilation take a new process seconds on a busy machine.
    await servers.call(8, "warm", options, 1_000, 2_000);
  });
  afterAll(() => servers.stop());

  const bursts: number[] = [];

  // A machine that halts the servers for half a second loses their leases.
  test("use 95 % when more is asked of them, for 0.05 writes per take", { tags: ["deep"], retry: 2 }, async () => {
    const { from, calls, allowed, refused, shares, commits } = await servers.call(8, "hot", options, 1_000, 8_000);
    const usedAfter = (ms: number) =>
      allowed.filter(([start]) => start >= from + ms).length / (((8_000 - ms) / 1_000) * 800);
    const burst = largestBurst(allowed, options);
    const writesPerTake = commits / calls.length;
    console.log(
      `used ${usedAfter(1_000).toFixed(3)}, exhausted ${usedAfter(5_000).toFixed(3)}, largest burst ${burst.toFixed(0)}, ` +
        `${writesPerTake.toFixed(4)} writes per take, shares ${shares}`,
    );
    bursts.push(burst);
    expect(usedAfter(1_000)).toBeGreaterThan(0.95);
    // The burst is used up.
    expect(usedAfter(5_000)).toBeGreaterThan(0.95);
    expect(writesPerTake).toBeLessThan(0.05);
    for (const [, , retryAfter] of refused) expect(retryAfter).toBeLessThan(1_000);
    for (const share of shares) expect(share / (allowed.length / 8)).toBeGreaterThan(0.5);
  });

  test("are never refused when they use 90 %", { tags: ["deep"], retry: 2 }, async () => {
    const { calls, allowed, refused, commits } = await servers.call(8, "busy", options, 720, 4_000);
    bursts.push(largestBurst(allowed, options));
    expect(refused.length).toBe(0);
    expect(commits / calls.length).toBeLessThan(0.05);
  });

  test("have never used more in any window, whatever the machine did", { tags: ["deep"] }, () => {
    expect(bursts.length).toBeGreaterThan(0);
    expect(Math.max(...bursts)).toBeLessThanOrEqual(800);
  });
});

test("two servers that race for one use per interval get one of them", async () => {
  const options = { limit: 1, per: 200, burst: 1 };
  const allowed: Call[] = [];
  const racing = Array.from({ length: 2 }, async () => {
    const limiter = rateLimiter(admin, "race", options);
    while (allowed.length < 4) {
      const start = now();
      const answer = await limiter.take("race");
      if (answer.allowed) allowed.push([start, now(), 0]);
      else await sleep(answer.retryAfter / 4);
    }
  });
  await Promise.all(racing);
  expect(largestBurst(allowed, options)).toBeLessThanOrEqual(1);
});

test("a refused call succeeds after the time it was told, in this process and in another", async () => {
  const options = { limit: 10, per: 10_000, burst: 3 };
  const limiters = [0, 1].map(() => rateLimiter(admin, "test", options));
  const [mine, other] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
  expect(await mine.take("told", 3)).toEqual({ allowed: true });
  for (const limiter of [mine, other]) {
    let answer = await limiter.take("told", 2);
    // On a busy machine a call may take as long as its uses need to become free.
    while (answer.allowed) answer = await limiter.take("told", 2);
    expect(answer.retryAfter).toBeGreaterThan(0);
    expect(answer.retryAfter).toBeLessThanOrEqual(2_001);
    await sleep(answer.retryAfter);
    expect(await limiter.take("told", 2)).toEqual({ allowed: true });
  }
});

test("the document holds when the burst is free again, and invalid arguments are refused before any I/O", async () => {
  const limiter = rateLimiter(admin, "stored", { limit: 1, per: 60_000, burst: 5 });
  for (const [key, n] of [
    ["a/b", 1],
    ["a", 0],
    ["a", 6],
    ["a", 1.5],
  ] as const) {
    const code = key === "a" ? "counter/invalid-amount" : "counter/invalid-key";
    await expect(limiter.take(key, n)).rejects.toMatchObject({ code });
  }
  const document = admin.doc("tallyServerLimits/stored/tallyKeys/a");
  expect((await document.get()).exists).toBe(false);
  const before = Date.now();
  await Promise.all([1, 2, 3].map(() => limiter.take("a")));
  const { tat, expireAt, ...others } = (await document.get()).data() ?? {};
  expect(others).toEqual({});
  expect(expireAt).toEqual(tat);
  expect(tat.toMillis() - before).toBeGreaterThan(179_000);
  expect(tat.toMillis() - Date.now()).toBeLessThanOrEqual(180_000);
});
