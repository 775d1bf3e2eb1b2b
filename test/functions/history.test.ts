/**
 * History: the past states that the functions store, and the series that both SDKs read from them. In the first test, the
 * deployed functions publish over a counter document with an old `asOf`. For longer series, the backend's code runs in this
 * process, at instants that the test chooses.
 */
import { disableNetwork } from "firebase/firestore";
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import {
  counter,
  counterHistory,
  getCounter,
  type HistoryPoint,
  type HistoryStep,
  incrementCounter,
} from "firestore-tally";
import {
  deleteCounter,
  type CounterRef as ServerRef,
  counter as serverCounter,
  counterHistory as serverHistory,
} from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HISTORY, parseMirrors } from "../../core/src/index.ts";
import { aggregate } from "../../functions/src/aggregate.ts";
import { DEFAULT_CONFIG as defaults } from "../../functions/src/config.ts";
import { type CounterState, type Published, readCounter } from "../../functions/src/counterDocument.ts";
import { toTimestamp } from "../../functions/src/fields.ts";
import { nextPublished } from "../../functions/src/nextPublished.ts";
import { publish } from "../../functions/src/publish.ts";
import { toMillis } from "../../functions/src/time.ts";
import { admin, adminAt, type Client, client } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { startMeter } from "../../testkit/meter.ts";
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
  const points = await counterHistory(views, range);
  expect(points.map(({ total, publishes }) => [total, publishes])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(points[0]?.at).toEqual(asOf.toDate());
  const now = toMillis((await readPublished(id))?.asOf as Timestamp);
  expect(points[1]?.at).toEqual(new Date(Math.floor(now)));
});

// ── At instants that the test chooses ─────────────────────────────────────────────────────────────────────────────

/** Publishes a measurement of an instant, as an aggregation does. @returns whether no other publish came first */
async function publishAt(state: CounterState, at: number, total: number, writes: number): Promise<boolean> {
  const asOf = toTimestamp(at);
  const measurement = { total, writes, asOf, documents: 0, shards: [] };
  const next = nextPublished({ at, isPoll: true }, { previous: state.published }, measurement, defaults);
  return (await publish(state, next, asOf, defaults)) !== undefined;
}

/** Two days in the life of a counter: busy for some minutes each noon, one write at each midnight, and a reset. */
const BEGIN = Date.parse("2026-03-01T12:00:00Z");
const life: readonly (readonly [at: number, total: number, writes: number])[] = [
  ...[0, 20, 40, 60, 80, 100].map((s, n) => [BEGIN + s * 1_000, 100 * n, 100 * n] as const),
  // Writing has stopped; to the last microseconds of the minute.
  [BEGIN + 119_999.9, 500, 500],
  [BEGIN + 12 * HOUR, 501, 501],
  ...[0, 30, 60].map((s, n) => [BEGIN + DAY + s * 1_000, 501 + 100 * n, 501 + 100 * n] as const),
  // Reset.
  [BEGIN + DAY + HOUR, 7, 702],
  [BEGIN + DAY + 12 * HOUR, 8, 703],
];

async function publishLife(id: string): Promise<ServerRef> {
  const ref = admin.doc(`counters/${id}`);
  for (const [at, total, writes] of life) expect(await publishAt(await readCounter(ref), at, total, writes)).toBe(true);
  return serverCounter(admin, id);
}

describe("the series of a counter", () => {
  const id = "history:series";
  beforeAll(async () => {
    await publishLife(id);
  });
  const range = { from: new Date(BEGIN), to: new Date(BEGIN + 2 * DAY) };
  const shown = (points: readonly HistoryPoint[]) =>
    points.map(({ at, total }) => `${at.toISOString().slice(8, 19)} ${total}`);

  test.each<[HistoryStep, string[]]>([
    ["minute", ["01T12:00:40 200", "01T12:01:59 500", "02T12:00:30 601", "02T12:01:00 701", "03T00:00:00 8"]],
    ["hour", ["01T12:01:59 500", "02T00:00:00 501", "02T12:01:00 701", "02T13:00:00 7", "03T00:00:00 8"]],
    ["day", ["01T12:01:59 500", "02T13:00:00 7", "03T00:00:00 8"]],
  ])("by the %s has the last total of each in both SDKs, resets included", async (step, expected) => {
    const points = await counterHistory(counter(web.db, id), { ...range, step });
    expect(shown(points)).toEqual(expected);
    expect(await serverHistory(serverCounter(admin, id), { ...range, step })).toEqual(points);
    for (const point of points)
      expect(point.publishes).toBe(life.findIndex(([at]) => Math.floor(at) === point.at.getTime()) + 1);
  });

  test("ends at `to`, whether the current state was published before or after it", async () => {
    const until = (to: string) =>
      counterHistory(counter(web.db, id), { from: range.from, to: new Date(`2026-03-${to}Z`), step: "hour" });
    expect(shown(await until("03T00:00:00")).at(-1)).toBe("03T00:00:00 8");
    expect(shown(await until("02T23:59:59.999")).at(-1)).toBe("02T13:00:00 7");
    expect(shown(await until("01T12:01:59.998"))).toEqual([]);
  });

  test("is rejected offline, since the cache may have gaps", async () => {
    const other = client();
    const ref = counter(other.db, id);
    await getCounter(ref);
    await disableNetwork(other.db);
    await expect(counterHistory(ref, { ...range, step: "hour" })).rejects.toMatchObject({ code: "unavailable" });
    await other.close();
  });

  test("costs 1 read of the counter and 1 for each hour or day with points, at least 1", async () => {
    const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
    const { firestore, close } = adminAt(meter.address);
    const ref = serverCounter(firestore, id);
    const costOf = async (step: HistoryStep, to: number) => {
      const before = meter.usage.reads;
      await serverHistory(ref, { from: new Date(BEGIN), to: new Date(to), step });
      return meter.usage.reads - before;
    };
    expect(await costOf("minute", BEGIN + 2 * DAY)).toBe(3);
    expect(await costOf("minute", BEGIN + HOUR)).toBe(2);
    expect(await costOf("hour", BEGIN + 2 * DAY)).toBe(3);
    expect(await costOf("day", BEGIN)).toBe(2);
    const before = { ...meter.usage };
    await serverHistory(serverCounter(firestore, "history:none"), { ...range, step: "hour" });
    expect(meter.usage.reads - before.reads).toBe(2);
    await close();
    meter.close();
  });
});

test("I3: a late publish is rejected, and stores no history", async () => {
  const id = "history:late";
  const ref = admin.doc(`counters/${id}`);
  await publishAt(await readCounter(ref), BEGIN, 1, 1);
  const before = await readCounter(ref);
  expect(await publishAt(await readCounter(ref), BEGIN + 10_000, 2, 2)).toBe(true);
  expect(await publishAt(before, BEGIN + HOUR, 3, 3)).toBe(false);
  expect(await storedHistory(id)).toEqual({});
  expect(await publishAt(await readCounter(ref), BEGIN + HOUR, 3, 3)).toBe(true);
  const [hours] = Object.values(await storedHistory(id));
  expect(hours?.points["12"]).toMatchObject({ total: 2, publishes: 2 });
});

test("deleting a counter deletes its history, and the counter starts a new one", async () => {
  const id = "history:deleted";
  const ref = await publishLife(id);
  expect(Object.keys(await storedHistory(id))).toHaveLength(4);
  await deleteCounter(ref);
  expect(await storedHistory(id)).toEqual({});
  expect(await serverHistory(ref, { from: new Date(0), to: new Date(), step: "hour" })).toEqual([]);
  expect(await publishAt(await readCounter(admin.doc(ref.path)), Date.now(), 1, 1)).toBe(true);
  expect(await storedHistory(id)).toEqual({});
});

// ── The whole aggregation ─────────────────────────────────────────────────────────────────────────────────────────

test("history costs 1 write for each minute and hour that is over, even if a mirror's document is missing", async () => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  const mirrors = parseMirrors("backend=nowhere/{key}.total", "MIRRORS");
  const { backend } = inProcessBackend({ historyRetention: DAY, mirrors }, firestore);
  const ref = backend.counters.doc("backend:key");
  const past = admin.doc(ref.path);
  /** @returns the writes of the next publish, when the last one was so long ago */
  const writesAfter = async (ago: number, changes: Partial<Published>) => {
    const { writeTime } = await past
      .collection("shards")
      .doc("0")
      .set({ count: FieldValue.increment(1), writes: FieldValue.increment(1) }, { merge: true });
    const asOf = Timestamp.fromMillis(Date.now() - ago);
    await past.set({ ...changes, asOf }, { merge: true });
    const state = await readCounter(past);
    const { writes } = meter.usage;
    await aggregate(backend, { ...state, ref }, { at: toMillis(writeTime), shardId: "0", isPoll: false });
    const hours = [asOf, (await past.get()).get("asOf")].map((at) => Math.floor(at.toMillis() / HOUR));
    return { writes: meter.usage.writes - writes, isHourOver: hours[0] !== hours[1] };
  };
  expect(await writesAfter(HOUR, { minuteInHistory: true })).toEqual({ writes: 3, isHourOver: true });
  expect(await writesAfter(HOUR, { minuteInHistory: false })).toEqual({ writes: 2, isHourOver: true });
  const { writes, isHourOver } = await writesAfter(2_000, { minuteInHistory: false });
  expect(writes).toBe(isHourOver ? 2 : 1);
  await close();
  meter.close();
});
