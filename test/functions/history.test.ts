/**
 * History: the past states that the functions store, and the series that both SDKs read from them. In the first test, the
 * deployed functions publish over a counter document with an old `asOf`. For a longer series, the backend's code publishes in
 * this process, at instants that the test chooses. What is kept, and what a range has, is in the unit tests.
 */

import { disableNetwork } from "firebase/firestore";
import { Timestamp } from "firebase-admin/firestore";
import {
  type CounterHistoryPoint,
  type CounterHistoryStep,
  counter,
  getCounter,
  getCounterHistory,
  incrementCounter,
} from "firestore-tally";
import { deleteCounter, counter as serverCounter, getCounterHistory as serverHistory } from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HISTORY } from "../../core/src/index.ts";
import { readCounter } from "../../functions/src/counter/counterDocument.ts";
import { toTimestamp } from "../../functions/src/counter/fields.ts";
import { planPublish } from "../../functions/src/counter/nextPublished.ts";
import { publish } from "../../functions/src/counter/publish.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import type { CounterConfig } from "../../functions/src/counter/types.ts";
import { DEFAULT_CONFIG } from "../../functions/src/deploy/defaultConfig.ts";
import { FEATURES } from "../../functions/src/features/features.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { metered } from "../../testkit/metered.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let web: Client;
beforeAll(() => {
  web = client();
});
afterAll(() => web.close());

/** The documents of a counter's history, by id. */
async function storedHistory(id: string): Promise<Record<string, FirebaseFirestore.DocumentData>> {
  const { docs } = await admin.collection(`counters/${id}/${HISTORY}`).get();
  return Object.fromEntries(docs.map((doc) => [doc.id, doc.data()]));
}

test("the deployed functions store the state that they replace once its hour is over, and nothing of a new counter", async () => {
  const id = "history:deployed";
  const views = counter(web.db, id);
  await incrementCounter(views);
  await until(async () => (await readPublished(id))?.total === 1, "the first total");
  expect(await storedHistory(id)).toEqual({});

  // As if that publish had been three hours ago, when the counter was busy.
  const asOf = Timestamp.fromMillis(Date.now() - 3 * HOUR);
  await admin.doc(`counters/${id}`).update({ asOf, minuteInHistory: true });
  const windows = (await admin.doc(`counters/${id}`).get()).get("windows");
  await incrementCounter(views);
  await until(async () => (await readPublished(id))?.total === 2, "the second total");
  const time = asOf.toDate().toISOString();
  const point = { total: 1, writes: 1, rate: 0, shardCount: 1, publishes: 1, asOf, windows };
  const midnight = Date.parse(time.slice(0, 10)) + DAY;
  const nextHour = Math.floor(asOf.toMillis() / HOUR + 1) * HOUR;
  expect(await storedHistory(id)).toEqual({
    [`hours-${time.slice(0, 10)}`]: {
      points: { [time.slice(11, 13)]: point },
      expireAt: Timestamp.fromMillis(midnight + 30 * DAY),
    },
    [`minutes-${time.slice(0, 13)}`]: {
      points: { [time.slice(14, 16)]: point },
      expireAt: Timestamp.fromMillis(nextHour + 30 * DAY),
    },
  });
  const range = { from: new Date(Date.now() - DAY), to: new Date(), step: "hour" } as const;
  const points = await getCounterHistory(views, range);
  expect(points.map(({ total, publishes }) => [total, publishes])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(points[0]?.at).toEqual(asOf.toDate());
  const now = toMillis((await readPublished(id))?.asOf as Timestamp);
  expect(points[1]?.at).toEqual(new Date(Math.floor(now)));
});

// ── At instants that the test chooses ─────────────────────────────────────────────────────────────────────────────

const CHOSEN: CounterConfig = {
  ...DEFAULT_CONFIG,
  windows: { groups: ["history"], timeZone: "UTC" },
  history: { ...DEFAULT_CONFIG.history, groups: ["history"] },
};

/** Publishes a measurement of an instant, as an aggregation does. */
async function publishAt(
  counterPath: string,
  at: number,
  total: number,
  writes: number,
  config: CounterConfig = CHOSEN,
): Promise<void> {
  const state = await readCounter(admin.doc(counterPath), FEATURES);
  const asOf = toTimestamp(at);
  const measurement = { total, writes, asOf, documents: 0, shards: [] };
  const { next } = planPublish(
    { at, isPoll: true },
    { ref: state.ref, previous: state.published },
    measurement,
    config,
  );
  const backend = { config, features: FEATURES, pausedUntil: new Map(), schedule: async () => {} };
  expect(await publish(backend, state, next, asOf)).toBeDefined();
}

/** Two days in the life of a counter: busy for a minute each noon, one write at each midnight, and a reset. */
const BEGIN = Date.parse("2026-03-01T12:00:00Z");
const life: readonly (readonly [at: number, total: number, writes: number])[] = [
  ...[0, 20, 40, 60].map((s, n) => [BEGIN + s * 1_000, 100 * n, 100 * n] as const),
  // Writing has stopped; to the last microseconds of the minute.
  [BEGIN + 119_999.9, 500, 500],
  [BEGIN + 12 * HOUR, 501, 501],
  ...[0, 60].map((s, n) => [BEGIN + DAY + s * 1_000, 501 + 100 * n, 501 + 100 * n] as const),
  // Reset.
  [BEGIN + DAY + HOUR, 7, 702],
  [BEGIN + DAY + 12 * HOUR, 8, 703],
];

test("both SDKs read the last total of each minute, hour or day, for 1 read of the counter and 1 of each document; deleting the counter deletes it", async () => {
  const id = "history:series";
  const { firestore, usage, close } = await metered();
  const ref = serverCounter(firestore, id);
  for (const [at, total, writes] of life) await publishAt(ref.path, at, total, writes);
  const range = { from: new Date(BEGIN), to: new Date(BEGIN + 2 * DAY) };
  const shown = (points: readonly CounterHistoryPoint[]) =>
    points.map(({ at, total }) => `${at.toISOString().slice(8, 19)} ${total}`);
  for (const [step, expected] of Object.entries({
    minute: ["01T12:00:40 200", "01T12:01:59 500", "02T12:01:00 601", "03T00:00:00 8"],
    hour: ["01T12:01:59 500", "02T00:00:00 501", "02T12:01:00 601", "02T13:00:00 7", "03T00:00:00 8"],
    day: ["01T12:01:59 500", "02T13:00:00 7", "03T00:00:00 8"],
  })) {
    const options = { ...range, step: step as CounterHistoryStep };
    const { reads } = usage;
    const points = await serverHistory(ref, options);
    expect([shown(points), usage.reads - reads]).toEqual([expected, 3]);
    expect(await getCounterHistory(counter(web.db, id), options)).toEqual(points);
  }
  // The range ends before the state that is published.
  const early = { from: range.from, to: new Date(BEGIN + DAY + 2 * HOUR), step: "day" } as const;
  expect(shown(await getCounterHistory(counter(web.db, id), early))).toEqual(["01T12:01:59 500", "02T13:00:00 7"]);

  await deleteCounter(ref);
  expect(await storedHistory(id)).toEqual({});
  const { reads } = usage;
  expect(await serverHistory(ref, { ...range, step: "hour" })).toEqual([]);
  expect(usage.reads - reads).toBe(2);
  await close();
});

test("with the default parameters there are neither windows nor history, and those of a group that is taken out go", async () => {
  const stored = async (id: string) => {
    const document = (await admin.doc(`counters/${id}`).get()).data() ?? {};
    const optional = ["windows", "minuteInHistory"].filter((field) => field in document);
    return [...optional, ...Object.keys(await storedHistory(id))];
  };
  const publishTwice = async (id: string, config?: CounterConfig) => {
    for (const second of [0, 20]) await publishAt(`counters/${id}`, BEGIN + second * 1_000, second, second, config);
    return await stored(id);
  };
  expect(await publishTwice("history:never", DEFAULT_CONFIG)).toEqual([]);
  expect(await publishTwice("other:id")).toEqual([]);
  expect(await publishTwice("history:before")).toEqual(["windows", "minuteInHistory"]);
  await publishAt("counters/history:before", BEGIN + 2 * HOUR, 30, 30, DEFAULT_CONFIG);
  expect(await stored("history:before")).toEqual([]);
});

test("a series is rejected offline, since the cache may have gaps", async () => {
  const other = client();
  const ref = counter(other.db, "history:offline");
  await getCounter(ref);
  await disableNetwork(other.db);
  const range = { from: new Date(BEGIN), to: new Date(BEGIN + DAY), step: "hour" } as const;
  await expect(getCounterHistory(ref, range)).rejects.toMatchObject({ code: "unavailable" });
  await other.close();
});
