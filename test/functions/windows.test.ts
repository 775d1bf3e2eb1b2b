/** What was counted today, this week and this month: by the deployed functions, and at the end of a day in two time zones. */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { counter, counterRank, getCounter, incrementCounter, topCounters } from "firestore-tally";
import {
  counterHistory,
  ensureCounter,
  incrementCounter as incrementOnServer,
  reconcileCounter,
  resetCounter,
  counter as serverCounter,
  counterRank as serverRank,
  topCounters as serverTop,
} from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runTask } from "../../functions/src/runTask.ts";
import { toMillis } from "../../functions/src/time.ts";
import { createWakeHandler } from "../../functions/src/wake.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

let web: Client;
beforeAll(() => {
  web = client();
});
afterAll(() => web.close());

const publishes = (id: string, total: number) =>
  until(async () => (await readPublished(id))?.total === total, `the total ${total} of ${id}`);
const windowsOf = async (id: string) => (await getCounter(counter(web.db, id))).windows;
const each = (n: number) => ({ day: n, week: n, month: n });

describe("the windows of a counter", () => {
  test.concurrent("have what was counted, of both SDKs", async () => {
    const id = "windows:counted";
    for (let n = 0; n < 3; n++) await incrementCounter(counter(web.db, id));
    await incrementOnServer(serverCounter(admin, id), 4);
    await publishes(id, 7);
    expect(await windowsOf(id)).toEqual(each(7));
    const [midnight] = new Date(Date.now() + DAY).toISOString().split("T");
    expect((await readPublished(id))?.windows?.day.until.toDate()).toEqual(new Date(`${midnight}T00:00:00Z`));
  });

  test.concurrent("have no start value, no reset and no correction", async () => {
    const id = "windows:adjusted";
    const ref = serverCounter(admin, id);
    await ensureCounter(ref, { initial: 500 });
    await publishes(id, 500);
    expect(await windowsOf(id)).toEqual(each(0));
    await incrementOnServer(ref, -3);
    await publishes(id, 497);
    expect(await windowsOf(id)).toEqual(each(-3));
    // An increment that is published together with the reset counts.
    await Promise.all([resetCounter(ref, 10), incrementCounter(counter(web.db, id))]);
    await until(async () => [10, 11].includes((await readPublished(id))?.total ?? 0), "the reset");
    await until(async () => (await windowsOf(id)).day === -2, "the increment");
    await admin.doc("windowsSource/one").set({});
    await reconcileCounter(ref, { source: { collection: "windowsSource" } });
    await publishes(id, 1);
    await sleep(1_500);
    expect(await windowsOf(id)).toEqual(each(-2));
    expect((await admin.doc(`counters/${id}`).get()).get("adjusted")).toBeUndefined();
  });

  test.concurrent("are those of a counted collection, too", async () => {
    const [post, id] = ["windows", "comments:windows"];
    await admin.doc(`posts/${post}/comments/a`).set({});
    await admin.doc(`posts/${post}/comments/b`).set({});
    await publishes(id, 2);
    expect(await windowsOf(id)).toEqual(each(2));
  });

  test.concurrent("rank a group in both SDKs; those that are over are left out", async () => {
    for (const [id, by] of Object.entries({ a: 1, b: 5, c: 3, d: 9 })) {
      await incrementOnServer(serverCounter(admin, `winners:${id}`), by);
      await publishes(`winners:${id}`, by);
    }
    const yesterday = new Date(Math.floor(Date.now() / DAY) * DAY);
    await admin.doc("counters/winners:d").update({ "windows.day.until": yesterday });
    const options = { window: "day", limit: 3 } as const;
    const top = await topCounters(web.db, "winners", options);
    expect(top.map(({ id, windows }) => [id, windows.day])).toEqual([
      ["winners:b", 5],
      ["winners:c", 3],
      ["winners:a", 1],
    ]);
    expect((await serverTop(admin, "winners", options)).map(({ id }) => id)).toEqual(top.map(({ id }) => id));
    expect((await serverTop(admin, "winners", { window: "week" })).map(({ id }) => id)[0]).toBe("winners:d");
    for (const [id, place] of Object.entries({ a: 3, b: 1, c: 2, d: undefined, e: undefined })) {
      expect(await counterRank(counter(web.db, `winners:${id}`), { window: "day" })).toBe(place);
      expect(await serverRank(serverCounter(admin, `winners:${id}`), { window: "day" })).toBe(place);
    }
    expect(await counterRank(counter(web.db, "winners:d"), { window: "month" })).toBe(1);
    expect(await topCounters(web.db, "winners:none", { window: "month" })).toEqual([]);
  });
});

/** Time zones in which a day ends at an instant. Their dates differ. */
function zonesWithMidnightAt(midnight: number): string[] {
  const minutes = (midnight / MINUTE) % 1_440;
  const name = (sign: string, offset: number) =>
    `${sign}${String(Math.floor(offset / 60)).padStart(2, "0")}:${String(offset % 60).padStart(2, "0")}`;
  return [name("-", minutes), name("+", minutes === 0 ? 0 : 1_440 - minutes)];
}

test("a day ends under load, in two time zones: each increment is counted in one day", { tags: "deep" }, async () => {
  // The clocks of these zones are moved so that midnight is at the next full minute.
  const midnight = Math.ceil((Date.now() + 8_000) / MINUTE) * MINUTE;
  await sleep(midnight - 8_000 - Date.now());
  await Promise.all(zonesWithMidnightAt(midnight).map((zone) => dayEnds(zone, midnight)));
});

async function dayEnds(timeZone: string, midnight: number): Promise<void> {
  const { backend, tasks } = inProcessBackend({
    timeZone,
    historyRetention: DAY,
    minInterval: 1_000,
    maxInterval: 2_000,
  });
  const wake = createWakeHandler(backend);
  const ids = ["first", "second", "third"];
  const commits = new Map<string, number[]>(ids.map((id) => [id, []]));
  const handled: Promise<void>[] = [];
  while (Date.now() < midnight + 4_000) {
    for (const counterId of ids) {
      const shard = backend.counters.doc(`${counterId}/shards/0`);
      const written = { shard: "0", count: FieldValue.increment(1), writes: FieldValue.increment(1) };
      const { writeTime } = await shard.set(written, { merge: true });
      const committedAt = toMillis(writeTime);
      commits.get(counterId)?.push(committedAt);
      handled.push(wake({ counterId, shardId: "0", committedAt }));
    }
    for (const task of tasks.splice(0)) handled.push(runTask(backend, task));
    await sleep(20);
  }
  await Promise.all(handled);
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);

  for (const [id, times] of commits) {
    const ref = serverCounter(admin, id, { collection: backend.config.collection });
    const { total, windows } = (await backend.counters.doc(id).get()).data() ?? {};
    expect(total).toBe(times.length);
    expect([windows.timeZone, windows.day.until.toMillis()]).toEqual([timeZone, midnight + DAY]);
    const range = { from: new Date(midnight - DAY), to: new Date(midnight + DAY), step: "day" } as const;
    const [yesterday, today, ...others] = await counterHistory(ref, range);
    expect(others).toEqual([]);
    // Each increment is in one of the two days.
    expect(yesterday?.windows.day).toBe(yesterday?.total);
    expect(today?.windows.day).toBe(total - (yesterday?.total ?? 0));
    // All of yesterday are of yesterday, but for those of the last publish interval.
    const before = (instant: number) => times.filter((time) => time < instant).length;
    expect(yesterday?.total).toBeLessThanOrEqual(before(midnight));
    expect(yesterday?.total).toBeGreaterThanOrEqual(before(midnight - 3_000));
    expect(yesterday?.total).toBeGreaterThan(0);
    expect(today?.windows.day).toBeGreaterThan(0);
  }
}
