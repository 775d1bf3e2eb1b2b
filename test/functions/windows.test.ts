/** What was counted today, this week and this month: as the deployed functions store it, and as both SDKs rank by it. */
import { Timestamp } from "firebase-admin/firestore";
import { counter, getCounter, getCounterRank, getTopCounters, incrementCounter } from "firestore-tally";
import {
  ensureCounter,
  incrementCounter as incrementOnServer,
  resetCounter,
  counter as serverCounter,
  getCounterRank as serverRank,
  getTopCounters as serverTop,
} from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const DAY = 86_400_000;

let web: Client;
beforeAll(() => {
  web = client();
});
afterAll(() => web.close());

const publishes = (id: string, total: number) =>
  until(async () => (await readPublished(id))?.total === total, `the total ${total} of ${id}`);

test.concurrent("I11: the windows of a counter have what both SDKs have counted, no start value and no reset", async () => {
  const id = "windows:counted";
  const ref = serverCounter(admin, id);
  const expectWindows = async (n: number) =>
    expect((await getCounter(counter(web.db, id))).windows).toEqual({ day: n, week: n, month: n });
  await ensureCounter(ref, { initial: 500 });
  // One after the other: where both create a shard at once, the emulator may evaluate the rules without the values of the write.
  await incrementCounter(counter(web.db, id));
  await incrementOnServer(ref, 4);
  await publishes(id, 505);
  await expectWindows(5);
  const [midnight] = new Date(Date.now() + DAY).toISOString().split("T");
  expect((await readPublished(id))?.windows?.day.until.toDate()).toEqual(new Date(`${midnight}T00:00:00Z`));
  await resetCounter(ref, 100);
  await publishes(id, 100);
  await expectWindows(5);
  expect((await admin.doc(ref.path).get()).get("adjusted")).toBeUndefined();
});

test.concurrent("both SDKs rank a group by a window, and leave out those that are over", async () => {
  const today = Timestamp.fromMillis((Math.floor(Date.now() / DAY) + 1) * DAY);
  const yesterday = Timestamp.fromMillis(today.toMillis() - DAY);
  const windowsOf = (total: number, until = today) => ({
    ...{ timeZone: "UTC", day: { until, total } },
    ...{ week: { until: today, total }, month: { until: today, total } },
  });
  const publish = (id: string, total: number, until?: Timestamp) =>
    admin
      .doc(`counters/winners:${id}`)
      .set({ group: "winners", total, asOf: Timestamp.now(), windows: windowsOf(total, until) });
  await Promise.all([publish("a", 1), publish("b", 5), publish("c", 3), publish("d", 9, yesterday)]);
  const options = { window: "day", limit: 3 } as const;
  const top = await getTopCounters(web.db, "winners", options);
  expect(top.map(({ id, windows }) => [id, windows.day])).toEqual([
    ["winners:b", 5],
    ["winners:c", 3],
    ["winners:a", 1],
  ]);
  expect((await serverTop(admin, "winners", options)).map(({ id }) => id)).toEqual(top.map(({ id }) => id));
  expect((await serverTop(admin, "winners", { window: "week" })).map(({ id }) => id)[0]).toBe("winners:d");
  for (const [id, place] of Object.entries({ a: 3, b: 1, c: 2, d: undefined, e: undefined })) {
    expect(await getCounterRank(counter(web.db, `winners:${id}`), { window: "day" })).toBe(place);
    expect(await serverRank(serverCounter(admin, `winners:${id}`), { window: "day" })).toBe(place);
  }
  expect(await getCounterRank(counter(web.db, "winners:d"), { window: "month" })).toBe(1);
  expect(await getTopCounters(web.db, "losers", { window: "month" })).toEqual([]);
});
