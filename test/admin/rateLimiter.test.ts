/** A rate limit of several servers, whose limiters share nothing but the database. Their bound: `admin/src/rateLimiter.test.ts`. */
import { setTimeout as sleep } from "node:timers/promises";
import { rateLimiter } from "firestore-tally/admin";
import { expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";

test("two servers that race for one use per interval get one of them", async () => {
  const interval = 200;
  const allowed: { start: number; end: number }[] = [];
  const racing = Array.from({ length: 2 }, async () => {
    const limiter = rateLimiter(admin, "race", { limit: 1, per: interval, burst: 1 });
    while (allowed.length < 4) {
      const start = performance.now();
      const answer = await limiter.take("race");
      if (answer.allowed) allowed.push({ start, end: performance.now() });
      else await sleep(answer.retryAfter / 4);
    }
  });
  await Promise.all(racing);
  // A use is at an instant between the start and the end of its call.
  for (const { start: from } of allowed)
    for (const { end: to } of allowed) {
      const within = allowed.filter(({ start, end }) => start >= from && end <= to);
      expect(within.length).toBeLessThanOrEqual(1 + Math.max(0, to - from) / interval);
    }
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

test("the document holds when the burst is free again", async () => {
  const limiter = rateLimiter(admin, "stored", { limit: 1, per: 60_000, burst: 5 });
  const document = admin.doc("tallyServerLimits/stored/tallyKeys/a");
  const before = Date.now();
  await Promise.all([1, 2, 3].map(() => limiter.take("a")));
  const { tat, expireAt, ...others } = (await document.get()).data() ?? {};
  expect(others).toEqual({});
  expect(expireAt).toEqual(tat);
  expect(tat.toMillis() - before).toBeGreaterThan(179_000);
  expect(tat.toMillis() - Date.now()).toBeLessThanOrEqual(180_000);
});
