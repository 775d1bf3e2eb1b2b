/**
 * Rate limits that the rules enforce: what a hostile client gets, that an honest one is never refused, and what a refusal
 * tells it. Each user of a test has clients of its own, and none a correct clock.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import {
  collection,
  connectFirestoreEmulator,
  doc,
  type Firestore,
  getFirestore,
  serverTimestamp,
} from "firebase/firestore";
import {
  type CounterError,
  counter,
  incrementCounter,
  incrementCounterIn,
  incrementCounterWithRateLimit,
  type RateLimit,
  undoIncrement,
  withRateLimit,
} from "firestore-tally";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startMeter } from "../../testkit/meter.ts";
import { OPEN_RULES } from "../../testkit/rules.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";
import { slotsOf } from "../rules/fuzz/values.ts";
import { withLimits } from "../rules/limitedRules.ts";
import { ADMIN, type Database, database, type Fields, type Write } from "../rules/rest.ts";
import { update } from "../rules/writes.ts";

const PROJECT = `demo-tally-limits-${process.pid}`;
const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;
const DAY = 86_400_000;

/** A limit, for any user. */
type Limit = Omit<RateLimit, "uid">;

const NOTES: Limit = { name: "notes", limit: 25, per: 1_000, burst: 20 };
/** Slow enough for a test to run out of uses. */
const SLOW: Limit = { name: "slow", limit: 1, per: 5_000, burst: 3 };
/** So slow that an attack is limited by the rules, not by the emulator. */
const ATTACKED: Limit = { name: "attacked", limit: 5, per: 1_000, burst: 5 };
const CLAPS: Limit = { name: "claps", limit: 1, per: 60_000, burst: 2 };

/** Milliseconds after which a user has one use more. */
const interval = ({ limit, per }: Limit) => per / limit;

const condition = ({ name, limit, per, burst }: Limit) => `isWithinLimit('${name}', ${limit}, ${per}, ${burst})`;
const RULES = withLimits(
  OPEN_RULES,
  `!(counterGroup() in ['claps', 'votes']) || ${condition(CLAPS)}`,
  [NOTES, SLOW, ATTACKED]
    .map(
      (limit) => `match /${limit.name}/{note} {
        allow create: if request.resource.data.at == request.time && request.resource.data.text.size() < 10 && ${condition(limit)};
      }`,
    )
    .join("\n"),
);

let server: Database;
beforeAll(async () => {
  server = await database(PROJECT, RULES);
});

const apps: FirebaseApp[] = [];
afterAll(() => Promise.all(apps.map(deleteApp)));
afterEach(() => {
  vi.restoreAllMocks();
});

/** A device of a user. */
function device(uid: string, host = firestoreHost): Firestore {
  const app = initializeApp({ projectId: PROJECT, apiKey: "any" }, `limits-${apps.length}`);
  apps.push(app);
  const db = getFirestore(app);
  const [name = "", port] = host.split(":");
  connectFirestoreEmulator(db, name, Number(port), { mockUserToken: { sub: uid } });
  return db;
}

/** From now on, the wall clock of this process is wrong by so much. */
function setClock(ahead: number): void {
  vi.restoreAllMocks();
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + ahead);
}

let users = 0;
const newUser = () => `user${users++}`;

async function write(db: Firestore, uid: string, limit: Limit, text = "hello"): Promise<void> {
  const note = doc(collection(db, limit.name));
  await withRateLimit(note, { ...limit, uid }, (batch) => batch.set(note, { by: uid, text, at: serverTimestamp() }));
}

let notes = 0;

/** A note over REST, without the library. */
function noteOf(uid: string, { name }: Limit): Write {
  return {
    path: `${name}/${uid}x${notes++}`,
    set: { by: { stringValue: uid }, text: { stringValue: "spam" } },
    transforms: [{ fieldPath: "at", setToServerValue: "REQUEST_TIME" }],
  };
}

/** @returns a use of a slot for a note, and the note */
function withUse(uid: string, limit: Limit, slot: number, note: Write, clock = Date.now()): Write[] {
  const use: Write = {
    path: `tallyLimits/${limit.name}/tallyUses/${uid}`,
    set: {
      slot: { integerValue: String(slot) },
      for: { referenceValue: `${server.documents}/${note.path}` },
      expireAt: { timestampValue: new Date(clock + 2 * DAY).toISOString() },
    },
    mask: ["slot", "for", "expireAt"],
    transforms: [{ fieldPath: `slots.\`${slot}\``, setToServerValue: "REQUEST_TIME" }],
  };
  return [use, note];
}

/** The server times of a user's notes, in order. */
async function timesOf(uid: string, { name }: Limit): Promise<number[]> {
  const where = { fieldFilter: { field: { fieldPath: "by" }, op: "EQUAL", value: { stringValue: uid } } };
  const response = await fetch(`http://${firestoreHost}/v1/${server.documents}:runQuery`, {
    method: "POST",
    headers: { authorization: "Bearer owner" },
    body: JSON.stringify({ structuredQuery: { from: [{ collectionId: name }], where } }),
  });
  const found = (await response.json()) as { document?: { fields: Fields } }[];
  const times = found.flatMap(({ document }) =>
    document ? [Date.parse(String(document.fields.at?.timestampValue))] : [],
  );
  return times.sort((a, b) => a - b);
}

/** The most that any window of the times exceeds the limit by; at most 0 if they keep to it. */
function excess(times: readonly number[], limit: Limit): number {
  let worst = Number.NEGATIVE_INFINITY;
  for (const [i, from] of times.entries()) {
    for (let j = i; j < times.length; j++) {
      worst = Math.max(worst, j - i + 1 - limit.burst - ((times[j] as number) - from) / interval(limit));
    }
  }
  return worst;
}

async function errorOf(call: Promise<unknown>): Promise<CounterError> {
  return await call.then(
    () => expect.unreachable("it was accepted"),
    (error) => error,
  );
}

test("excess finds one use too many, so these tests can fail", () => {
  expect(excess([0, 0, 10, 20], { name: "x", limit: 1, per: 10, burst: 2 })).toBe(0);
  expect(excess([0, 0, 10, 19], { name: "x", limit: 1, per: 10, burst: 2 })).toBeGreaterThan(0);
});

test("no attack gets more than the limit: 50 connections, batches of 500", {
  tags: ["deep"],
  timeout: 90_000,
}, async () => {
  const uid = newUser();
  const start = performance.now();
  // On a busy machine the emulator is slow with so many commits of one document.
  const isOver = () => performance.now() - start > (accepted.notes > 2 * ATTACKED.burst ? 8_000 : 40_000);
  const [sent, accepted] = [
    { batches: 0, notes: 0 },
    { batches: 0, notes: 0 },
  ];
  const note = () => noteOf(uid, ATTACKED);
  const attack = async (connection: number) => {
    const clock = Date.now() + ((connection % 3) - 1) * 3_600_000;
    const use = (slot: number, note: Write) => withUse(uid, ATTACKED, slot, note, clock)[0] as Write;
    for (let n = 0; !isOver(); n++) {
      const [first, second] = [note(), note()];
      const slot = Math.floor(Math.random() * ATTACKED.burst);
      const ways: Write[][] = [
        [use(slot, first), first],
        [first, use(slot, first)],
        [use(slot, first), first, use((slot + 1) % ATTACKED.burst, second), second],
        [use(slot, first), first, second],
        [use(slot + ATTACKED.burst, first), first],
        n % 10 === 5 ? [use(slot, first), first, ...Array.from({ length: 498 }, note)] : [first],
      ];
      const writes = ways[Math.random() < 0.5 ? 0 : Math.floor(Math.random() * ways.length)] as Write[];
      const size = writes.filter(({ path }) => path.startsWith(`${ATTACKED.name}/`)).length;
      sent.batches++;
      sent.notes += size;
      if ((await server.commit(uid, writes)) !== 200) continue;
      accepted.batches++;
      accepted.notes += size;
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, connection) => attack(connection)));
  const times = await timesOf(uid, ATTACKED);
  const span = (times.at(-1) as number) - (times[0] as number);
  console.log(
    `limits: ${accepted.notes} notes of ${sent.notes} accepted, in ${sent.batches} batches; ` +
      `the limit allows ${Math.floor(ATTACKED.burst + span / interval(ATTACKED))} in ${span} ms; excess ${excess(times, ATTACKED)}`,
  );
  expect(times.length).toBe(accepted.notes);
  expect(excess(times, ATTACKED)).toBeLessThanOrEqual(0);
  expect(times.length).toBeGreaterThan(2 * ATTACKED.burst);
});

test("an honest client at 90 % of the limit is never refused, with a clock off by 5 s", {
  tags: ["deep"],
}, async () => {
  const uses = 100;
  const meter = await startMeter(firestoreHost);
  const uid = newUser();
  const db = device(uid, meter.address);
  for (let n = 0; n < uses; n++) {
    if (n % 50 === 0) setClock(n === 0 ? 5_000 : -5_000);
    const sent = performance.now();
    await write(db, uid, NOTES);
    await sleep(Math.max(0, sent + interval(NOTES) / 0.9 - performance.now()));
  }
  const times = await timesOf(uid, NOTES);
  expect(times.length).toBe(uses);
  expect(excess(times, NOTES)).toBeLessThanOrEqual(0);
  expect(meter.usage.writes).toBe(2 * uses);
  meter.close();
});

describe("a refused use", () => {
  const slotTimes = async (path: string) => {
    const slots = slotsOf((await server.read([path]))[path]);
    return Object.entries(slots).map(
      ([slot, { timestampValue }]) => [slot, Date.parse(String(timestampValue))] as const,
    );
  };
  /** By the clock that a test does not change. */
  const millisUntilFree = async (uid: string, limit: Limit) => {
    const times = (await slotTimes(`tallyLimits/${limit.name}/tallyUses/${uid}`)).map(([, time]) => time);
    return Math.min(...times) + limit.burst * interval(limit) - (performance.timeOrigin + performance.now());
  };
  /** As if so many milliseconds had passed since the uses of a limit, for a page that is opened then. */
  async function pass(millis: number, uid: string, { name }: Limit): Promise<Firestore> {
    const path = `tallyLimits/${name}/tallyUses/${uid}`;
    const slots = (await slotTimes(path)).map(([slot, time]) => [slot, new Date(time - millis)]);
    expect(await server.commit(ADMIN, [update(path, { slots: Object.fromEntries(slots) })])).toBe(200);
    return device(uid);
  }

  test.each([0, 3_600_000])("tells how long to wait, and writes nothing, with a clock off by %d ms", async (ahead) => {
    const meter = await startMeter(firestoreHost);
    const uid = newUser();
    const db = device(uid, meter.address);
    setClock(ahead);
    await write(db, uid, SLOW);
    const acknowledgedAt = performance.now();
    for (let n = 1; n < SLOW.burst; n++) await write(db, uid, SLOW);
    const before = { ...meter.usage };
    expect(before).toEqual({ reads: 1, writes: 2 * SLOW.burst, deletes: 0 });
    const rested = performance.now() - acknowledgedAt;
    const { code, retryAfter = 0, message } = await errorOf(write(db, uid, SLOW));
    expect({ code, message }).toEqual({
      code: "counter/rate-limited",
      message: `counter/rate-limited: the user has no use of "slow" left; try again in ${retryAfter} ms`,
    });
    expect(meter.usage).toEqual(before);
    expect(retryAfter).toBeGreaterThanOrEqual(await millisUntilFree(uid, SLOW));
    expect(retryAfter).toBeLessThanOrEqual(SLOW.burst * interval(SLOW) * 1.001 + 1 - rested);
    // Until then the rules refuse, whatever the client believes.
    for (let slot = 0; slot < SLOW.burst; slot++) {
      expect(await server.commit(uid, withUse(uid, SLOW, slot, noteOf(uid, SLOW)))).toBe(403);
    }
    await write(await pass(retryAfter, uid, SLOW), uid, SLOW);
    meter.close();
  });

  test("of a page that was just opened is refused by the rules, and tells a time that is long enough", async () => {
    const uid = newUser();
    const [before, after] = [device(uid), device(uid)];
    for (let n = 0; n < SLOW.burst; n++) await write(before, uid, SLOW);
    const { code, retryAfter = 0 } = await errorOf(write(after, uid, SLOW));
    expect(code).toBe("counter/rate-limited");
    expect(retryAfter).toBeGreaterThanOrEqual(await millisUntilFree(uid, SLOW));
    expect(retryAfter).toBeLessThanOrEqual(SLOW.burst * interval(SLOW) * 1.001 + 1);
    await write(await pass(retryAfter, uid, SLOW), uid, SLOW);
  });

  test("for another reason than its rate is told from one that came too often", async () => {
    const uid = newUser();
    const db = device(uid);
    expect(await errorOf(write(db, uid, SLOW, "far too long"))).toMatchObject({
      code: "counter/permission-denied",
      message: expect.stringMatching(/firestore.rules refuse the write of "slow\/\w+", but not for its rate/),
    });
    await write(db, uid, SLOW);
    expect(await errorOf(write(db, newUser(), SLOW))).toMatchObject({
      code: "counter/permission-denied",
      message: expect.stringContaining("sign in as that user"),
    });
  });
});

test("simultaneous uses of a client take different slots, after one read", async () => {
  const meter = await startMeter(firestoreHost);
  const uid = newUser();
  const db = device(uid, meter.address);
  const outcomes = await Promise.allSettled(Array.from({ length: SLOW.burst + 2 }, () => write(db, uid, SLOW)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(SLOW.burst);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason.code).toBe("counter/rate-limited");
  }
  expect(meter.usage).toEqual({ reads: 1, writes: 2 * SLOW.burst, deletes: 0 });
  meter.close();
});

test("a slot that another device has taken is not refused while another slot is free", async () => {
  const uid = newUser();
  const [phone, laptop] = [device(uid), device(uid)];
  await write(phone, uid, SLOW);
  await write(laptop, uid, SLOW);
  // The phone knows of one use.
  await write(phone, uid, SLOW);
  expect((await timesOf(uid, SLOW)).length).toBe(SLOW.burst);
  expect((await errorOf(write(phone, uid, SLOW))).code).toBe("counter/rate-limited");
});

test("a write that was committed, and whose acknowledgement was lost, is reported as committed", async () => {
  const uid = newUser();
  const proxy = await cuttingProxy(firestoreHost);
  const db = device(uid, proxy.address);
  await write(db, uid, SLOW);
  proxy.withhold();
  const written = write(db, uid, SLOW);
  await until(async () => (await timesOf(uid, SLOW)).length === 2, "the commit");
  proxy.cut();
  await written;
  expect((await timesOf(uid, SLOW)).length).toBe(2);
  await proxy.close();
});

test("a write that the server cannot store needs no use", async () => {
  const uid = newUser();
  const db = device(uid);
  for (let n = 0; n < SLOW.burst; n++) {
    const note = doc(collection(db, SLOW.name));
    const tooLarge = { by: uid, text: "hello", at: serverTimestamp(), more: "x".repeat(1_100_000) };
    const call = withRateLimit(note, { ...SLOW, uid }, (batch) => void batch.set(note, tooLarge));
    expect((await errorOf(call)).code).toBe("invalid-argument");
  }
  for (let n = 0; n < SLOW.burst; n++) await write(db, uid, SLOW);
  expect((await timesOf(uid, SLOW)).length).toBe(SLOW.burst);
});

describe("a counter whose increments are limited", () => {
  test("counts each user's increments up to the limit, at the documented cost", async () => {
    const meter = await startMeter(firestoreHost);
    const uid = newUser();
    const db = device(uid, meter.address);
    const ref = counter(db, `claps:${uid}`);
    const start = performance.now();
    expect((await errorOf(incrementCounter(ref))).code).toBe("counter/permission-denied");
    await incrementCounterWithRateLimit(ref, { ...CLAPS, uid });
    const { reads, writes } = meter.usage;
    await incrementCounterWithRateLimit(ref, { ...CLAPS, uid });
    expect(meter.usage.writes - writes).toBe(2);
    // While a counter is new, its shard count is read once a second.
    expect(meter.usage.reads - reads).toBeLessThanOrEqual((performance.now() - start) / 1_000);
    expect(await errorOf(incrementCounterWithRateLimit(ref, { ...CLAPS, uid }))).toMatchObject({
      code: "counter/rate-limited",
    });
    const { direct } = (await server.read([ref.path]))[ref.path] ?? {};
    expect(direct?.mapValue).toMatchObject({ fields: { count: { integerValue: `${CLAPS.burst}` } } });
    meter.close();
  });

  test("refuses a wrong amount as such", async () => {
    const uid = newUser();
    const ref = counter(device(uid), `claps:${uid}`);
    expect(await errorOf(incrementCounterWithRateLimit(ref, { ...CLAPS, uid }, 5))).toMatchObject({
      code: "counter/permission-denied",
      message: expect.stringContaining("isAllowedAmount allow it"),
    });
    await incrementCounterWithRateLimit(ref, { ...CLAPS, uid });
  });

  test("may count once per user, too; an undo needs no use", async () => {
    const uid = newUser();
    const ref = counter(device(uid), `votes:${uid}`);
    await incrementCounterWithRateLimit(ref, { ...CLAPS, uid }, 1, { once: uid });
    await undoIncrement(ref, uid);
    await incrementCounterWithRateLimit(ref, { ...CLAPS, uid }, 1, { once: uid });
    await undoIncrement(ref, uid);
    expect((await errorOf(incrementCounterWithRateLimit(ref, { ...CLAPS, uid }, 1, { once: uid }))).code).toBe(
      "counter/rate-limited",
    );
  });

  test("needs no use for an increment with `once` that counts already", async () => {
    const uid = newUser();
    const db = device(uid);
    const vote = () => incrementCounterWithRateLimit(counter(db, `votes:${uid}`), { ...CLAPS, uid }, 1, { once: uid });
    await vote();
    await vote();
    const claps = counter(db, `claps:${uid}`);
    await incrementCounterWithRateLimit(claps, { ...CLAPS, uid });
    expect((await errorOf(incrementCounterWithRateLimit(claps, { ...CLAPS, uid }))).code).toBe("counter/rate-limited");
  });

  test("may be in the commit of a limited document, without a use of its own limit", async () => {
    const uid = newUser();
    const db = device(uid);
    const note = doc(collection(db, SLOW.name));
    await withRateLimit(note, { ...SLOW, uid }, (batch) => {
      batch.set(note, { by: uid, text: "hello", at: serverTimestamp() });
      incrementCounterIn(batch, counter(db, `views:${uid}`));
    });
    expect((await timesOf(uid, SLOW)).length).toBe(1);
  });
});
