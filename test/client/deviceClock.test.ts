/** Windows end at the server's midnight, whatever the clock of the device says. */
import { Timestamp } from "firebase-admin/firestore";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type CounterSnapshot,
  counter,
  getCounter,
  getCounterRank,
  getTopCounters,
  onCounter,
} from "../../client/src/web/index.ts";
import { adminAt, type Client, client } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";
import { loadRules, OPEN_RULES } from "../../testkit/rules.ts";
import { until } from "../../testkit/until.ts";

const HOUR = 3_600_000;
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
/** A project without functions, which would publish these counters anew. */
const PROJECT = `demo-clock-${process.pid}`;
const { firestore: admin, close } = adminAt(host, PROJECT);
const realNow = Date.now;
const inHours = (hours: number) => Timestamp.fromMillis(realNow() + hours * HOUR);
let app: Client;

/** How far a device's clock is ahead. */
const CLOCKS = [
  ["right", 0],
  ["26 hours ahead", 26],
  ["40 days ahead", 960],
  ["two hours behind", -2],
  ["a year behind", -8_760],
] as const;

async function publish(id: string, asOf: number, day: [ends: number, total: number]): Promise<void> {
  const window = (ends: number, total: number) => ({ until: inHours(ends), total });
  const windows = { day: window(...day), week: window(60, 30), month: window(400, 50), timeZone: "UTC" };
  const group = id.split(":")[0];
  await admin.doc(`counters/${id}`).set({ total: 99, asOf: inHours(asOf), group, windows });
}

beforeAll(async () => {
  await loadRules(PROJECT, OPEN_RULES);
  await publish("busy:today", -0.001, [5, 12]);
  await publish("busy:yesterday", -20, [-1, 40]);
  await publish("over:yesterday", -20, [-1, 40]);
  await publish("silent:today", -3, [5, 7]);
});

afterAll(close);

afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

describe.for(CLOCKS)("with a device's clock that is %s", ([, hours]) => {
  const start = (address = host) => {
    vi.spyOn(Date, "now").mockImplementation(() => realNow() + hours * HOUR);
    app = client(address, PROJECT);
    return app.db;
  };

  test("a read has what was counted today", async () => {
    const db = start();
    const windowsOf = async (id: string) => (await getCounter(counter(db, id))).windows;
    expect(await windowsOf("busy:today")).toEqual({ day: 12, week: 30, month: 50 });
    expect(await windowsOf("over:yesterday")).toEqual({ day: 0, week: 30, month: 50 });
    expect(await windowsOf("silent:today")).toEqual({ day: 7, week: 30, month: 50 });
  });

  test("so has a watch", async () => {
    const db = start();
    const shown: Record<string, CounterSnapshot> = {};
    const ids = ["over:yesterday", "silent:today"];
    const stops = ids.map((id) =>
      onCounter(counter(db, id), (snapshot) => {
        shown[id] = snapshot;
      }),
    );
    await until(
      () => shown["over:yesterday"]?.windows.day === 0 && shown["silent:today"]?.windows.day === 7,
      "windows",
    );
    for (const stop of stops) stop();
  });

  test("the top of today is today's", async () => {
    const db = start();
    const top = async (group: string) => (await getTopCounters(db, group, { window: "day" })).map(({ id }) => id);
    expect(await top("busy")).toEqual(["busy:today"]);
    expect(await top("over")).toEqual([]);
    expect(await getCounterRank(counter(db, "silent:today"), { window: "day" })).toBe(1);
    expect(await getCounterRank(counter(db, "over:yesterday"), { window: "day" })).toBe(undefined);
  });

  test.runIf(hours === 0)("the server is asked once, at the documented cost", async () => {
    const meter = await startMeter(host);
    const db = start(meter.address);
    // Nothing is past: the rules refuse the question.
    await getCounter(counter(db, "silent:today"));
    expect(meter.usage.reads).toBe(1);
    await getCounter(counter(db, "over:yesterday"));
    expect(meter.usage.reads).toBe(3);
    const ids = ["silent:today", "over:yesterday", "busy:today"];
    await Promise.all(ids.map((id) => getCounter(counter(db, id))));
    expect(meter.usage.reads).toBe(6);
    meter.close();
  });
});
