/** The model of the rules compared with the emulator: the same random writes of clients on both, step by step. */
import * as realAdmin from "@google-cloud/firestore";
import * as realWeb from "firebase/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIRECT_WINDOWS } from "../../../core/src/index.ts";
import { type Random, randomFor } from "../../../core/testing/random.ts";
import * as modelAdmin from "../model/adminSdk.ts";
import { setDirectPolicy } from "../model/directRules.ts";
import * as modelWeb from "../model/webSdk.ts";
import { connectToEmulator, createModel, type Emulator, LONG, plain } from "./comparison.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await connectToEmulator("demo-tally-model-rules");
});
afterAll(() => emulator.close());

/** A client's batch: an increment of a shard, with or without an entry. */
interface Batch {
  readonly user: "ada" | "bob";
  readonly counter: string;
  readonly shard: string;
  readonly by: 1 | -1;
  readonly entry: "none" | "create" | "delete";
  readonly window: string;
  readonly nonce: number;
}

function randomBatch(random: Random): Batch {
  const counter = random.pick(["views:a", "likes:b", "likes:b"]);
  // Mostly valid batches, with few windows and nonces, so that some are replays.
  const entry = counter === "views:a" ? "none" : random.pick(["create", "create", "delete", "none"] as const);
  return {
    user: random.pick(["ada", "bob"]),
    counter,
    shard: random.pick(["0", "1"]),
    by: entry === "delete" ? -1 : 1,
    entry,
    window: random.pick(["0", "1", "2"]),
    nonce: random.integer(0, 9),
  };
}

async function performBatch(
  // biome-ignore lint/suspicious/noExplicitAny: the real SDK or its model
  { db, sdk, run }: { db: any; sdk: any; run: <T>(call: Promise<T>) => Promise<T> },
  { user, counter, shard, by, entry, window, nonce }: Batch,
): Promise<string> {
  const batch = sdk.writeBatch(db);
  const at = sdk.serverTimestamp();
  const ownEntry = sdk.doc(db, `counters/${counter}/tallyEntries/${user}`);
  if (entry === "create") batch.set(ownEntry, { once: user, by, shard, at });
  if (entry === "delete") batch.delete(ownEntry);
  const nonces = sdk.arrayUnion(sdk.Bytes.fromUint8Array(new Uint8Array(5).fill(nonce)));
  const marks = { [window]: { at, nonces } };
  const write = { shard, count: sdk.increment(by), writes: sdk.increment(1), at, marks };
  batch.set(sdk.doc(db, `counters/${counter}/shards/${shard}`), write, { merge: true });
  try {
    await run(batch.commit());
    return "accepted";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("the model accepts the same increments, replays, likes and unlikes as the emulator", LONG, async () => {
  const real = (user: string) =>
    emulator.environment.authenticatedContext(user).firestore() as unknown as realWeb.Firestore;
  const users = { ada: real("ada"), bob: real("bob") };
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomFor(seed, "clients");
    await emulator.environment.clearFirestore();
    const { connect, run } = createModel();
    const ours = { ada: new modelWeb.Firestore(connect("ada")), bob: new modelWeb.Firestore(connect("bob")) };
    const server = new modelAdmin.Firestore(connect("server"));
    for (let i = 0; i < 40; i++) {
      const step = randomBatch(random);
      const expected = await performBatch({ db: users[step.user], sdk: realWeb, run: (call) => call }, step);
      const actual = await performBatch({ db: ours[step.user], sdk: modelWeb, run }, step);
      seen.set(expected, (seen.get(expected) ?? 0) + 1);
      expect(actual, `seed ${seed}, step ${i}: ${JSON.stringify(step)}`).toBe(expected);
    }
    for (const path of ["views:a/shards/0", "views:a/shards/1", "likes:b/shards/0", "likes:b/shards/1"]) {
      const [expected, actual] = [
        emulator.firestore.doc(`counters/${path}`).get(),
        server.doc(`counters/${path}`).get(),
      ];
      expect(plain((await run(actual)).data()), `seed ${seed}, ${path}`).toEqual(plain((await expected).data()));
    }
  }
  expect(seen.get("accepted")).toBeGreaterThan(80);
  expect(seen.get("permission-denied")).toBeGreaterThan(80);
});

/** A client's write of a shard, or a server's write of an old window. */
interface MarkWrite {
  readonly shard: string;
  readonly by: "batch" | "transaction";
  readonly does: (typeof MARK_WRITES)[number];
  readonly window: string;
  readonly nonce: number;
  /** Age of the window that a server writes. */
  readonly ageSeconds: number;
}

const MARK_WRITES = [
  ...(["increment", "increment", "increment", "increment", "removal", "removal", "old window", "old window"] as const),
  ...([
    "two windows",
    "two nonces",
    "other shard",
    "other field",
    "no nonce",
    "long nonce",
    "text",
    "own time",
  ] as const),
  ...(["whole window", "bare removal", "removal of all", "replace", "no writes"] as const),
] as const;

function randomMarkWrite(random: Random): MarkWrite {
  return {
    shard: random.pick(["0", "17"]),
    by: random.pick(["batch", "transaction"]),
    does: random.pick(MARK_WRITES),
    window: random.pick(["0", "2", "3", "4", "5"]),
    nonce: random.integer(0, 2),
    ageSeconds: random.pick([60, 130]),
  };
}

async function performMarkWrite(
  // biome-ignore lint/suspicious/noExplicitAny: the real SDKs or the models of them
  side: { db: any; server: any; sdk: any; ago: (seconds: number) => any; run: <T>(call: Promise<T>) => Promise<T> },
  { shard, by, does, window, nonce, ageSeconds }: MarkWrite,
): Promise<string> {
  const { db, server, sdk, ago, run } = side;
  const path = `counters/views:a/shards/${shard}`;
  const ref = sdk.doc(db, path);
  const at = sdk.serverTimestamp();
  const bytes = (of: number, length = 5) => sdk.Bytes.fromUint8Array(new Uint8Array(length).fill(of));
  const marks = { [window]: { at, nonces: sdk.arrayUnion(bytes(nonce)) } };
  const next = `${(Number(window) + 1) % 5}`;
  const increment = { shard, count: sdk.increment(1), writes: sdk.increment(1), at, marks };
  const nonces = (...some: unknown[]) => ({
    ...increment,
    marks: { [window]: { at, nonces: sdk.arrayUnion(...some) } },
  });
  const writes: Record<string, () => [kind: "merge" | "set" | "update", data: object]> = {
    increment: () => ["merge", increment],
    "two windows": () => ["merge", { ...increment, marks: { ...marks, 1: marks[window] } }],
    "two nonces": () => ["merge", nonces(bytes(nonce), bytes(nonce + 1))],
    "other shard": () => ["merge", { ...increment, shard: "1" }],
    "other field": () => ["merge", { ...increment, more: 1 }],
    "no nonce": () => ["merge", { ...increment, marks: { [window]: { at } } }],
    "long nonce": () => ["merge", nonces(bytes(nonce, 6))],
    text: () => ["merge", nonces("text")],
    "own time": () => [
      "merge",
      { ...increment, marks: { [window]: { ...marks[window], at: sdk.Timestamp.fromMillis(1) } } },
    ],
    "whole window": () => [
      "update",
      { [`marks.${window}`]: { at, nonces: [bytes(nonce)] }, count: sdk.increment(1), writes: sdk.increment(1), at },
    ],
    "no writes": () => ["merge", { ...increment, writes: sdk.increment(0) }],
    replace: () => ["set", increment],
    removal: () => ["merge", { ...increment, marks: { ...marks, [next]: sdk.deleteField() } }],
    "bare removal": () => ["update", { [`marks.${window}`]: sdk.deleteField() }],
    "removal of all": () => ["update", { marks: sdk.deleteField() }],
  };
  try {
    if (does === "old window") {
      const old = { at: ago(ageSeconds), nonces: [new Uint8Array(5).fill(nonce)] };
      const write = server.doc(path).set({ shard, count: 1, writes: 1, marks: { [window]: old } }, { merge: true });
      await run(write);
      return "by a server";
    }
    const [kind, data] = (writes[does] as (typeof writes)[string])();
    // biome-ignore lint/suspicious/noExplicitAny: a batch or a transaction of either
    const put = (writer: any) =>
      kind === "update" ? writer.update(ref, data) : writer.set(ref, data, { merge: kind === "merge" });
    if (by === "transaction")
      await run(sdk.runTransaction(db, async (tx: unknown) => void put(tx), { maxAttempts: 1 }));
    else await run(put(sdk.writeBatch(db)).commit());
    return "accepted";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("the model accepts the same marks as the emulator", LONG, async () => {
  const db = emulator.environment.unauthenticatedContext().firestore();
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomFor(seed, "windows");
    await emulator.environment.clearFirestore();
    const { connect, run, scheduler } = createModel();
    const ours = {
      db: new modelWeb.Firestore(connect("client")),
      server: new modelAdmin.Firestore(connect("server")),
      sdk: modelWeb,
      ago: (seconds: number) => modelAdmin.Timestamp.fromMicros(scheduler.now - seconds * 1e6),
      run,
    };
    const real = {
      db,
      server: emulator.firestore,
      sdk: realWeb,
      ago: (seconds: number) => realAdmin.Timestamp.fromMillis(Date.now() - seconds * 1e3),
      run: <T>(call: Promise<T>) => call,
    };
    for (let i = 0; i < 60; i++) {
      const step = randomMarkWrite(random);
      const [expected, actual] = [await performMarkWrite(real, step), await performMarkWrite(ours, step)];
      const kind = `${step.does}: ${expected}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      expect(actual, `seed ${seed}, step ${i}: ${JSON.stringify(step)}`).toBe(expected);
      const path = `counters/views:a/shards/${step.shard}`;
      const [theirs, own] = [await emulator.firestore.doc(path).get(), await run(ours.server.doc(path).get())];
      expect(plain(own.data()), `seed ${seed}, step ${i}: ${JSON.stringify(step)}`).toEqual(plain(theirs.data()));
    }
  }
  for (const kind of [
    "increment: accepted",
    "increment: permission-denied",
    "removal: accepted",
    "removal: permission-denied",
  ]) {
    expect(seen.get(kind), kind).toBeGreaterThan(5);
  }
  // The other kinds are sometimes valid: a whole window may be new, and one of two nonces known.
  const never = [
    "two windows",
    "other shard",
    "other field",
    "no nonce",
    "long nonce",
    "text",
    "own time",
    "no writes",
  ];
  for (const kind of [...never, "bare removal", "removal of all"])
    expect(seen.get(`${kind}: accepted`), kind).toBeUndefined();
});

/** A client's write of a counter document, or what the functions or a server do to it. */
interface DirectWrite {
  readonly user: "ada" | "bob";
  readonly counter: (typeof DIRECT_COUNTERS)[number];
  readonly by: "batch" | "transaction";
  readonly does: (typeof DIRECT_WRITES)[number];
  /** From the generation that is stored. */
  readonly ahead: number;
  readonly nonce: number;
  /** From the last mark of a full generation to that of the one before. */
  readonly seconds: number;
}

const DIRECT_COUNTERS = ["pages:a", "likes:b", "tickets:c", "votes:d"] as const;
const DIRECT_WRITES = [
  ...(["increment", "increment", "increment", "increment", "full", "full", "closed", "opened", "no document"] as const),
  ...(["total alone", "count alone", "no writes", "two writes", "fraction", "other field", "other part"] as const),
  ...(["no marks", "two nonces", "long nonce", "own time", "other window", "next window", "next kept"] as const),
  ...([
    "not open",
    "shut",
    "other group",
    "replace",
    "extra mark",
    "in shard 0",
    "undo twice",
    "bare",
    "by 2",
  ] as const),
] as const;

function randomDirectWrite(random: Random): DirectWrite {
  return {
    user: random.pick(["ada", "bob"]),
    counter: random.pick(["pages:a", "pages:a", "pages:a", "likes:b", "likes:b", ...DIRECT_COUNTERS]),
    by: random.pick(["batch", "transaction"]),
    does: random.pick(DIRECT_WRITES),
    ahead: random.pick([0, 0, 0, 0, 1, 1, -1, 5]),
    nonce: random.integer(0, 19),
    seconds: random.pick([30, 58, 62, 90]),
  };
}

/** What both sides have stored before a write. */
interface Stored {
  readonly direct: { readonly generation?: number; readonly marks?: Readonly<Record<string, unknown>> } | undefined;
  readonly entry: string | undefined;
}

async function performDirectWrite(
  // biome-ignore lint/suspicious/noExplicitAny: the real SDKs or their models
  side: { db: any; server: any; sdk: any; ago: (seconds: number) => any; run: <T>(call: Promise<T>) => Promise<T> },
  { user, counter, by, does, ahead, nonce, seconds }: DirectWrite,
  { direct, entry }: Stored,
): Promise<string> {
  const { db, server, sdk, ago, run } = side;
  const path = `counters/${counter}`;
  const current = direct?.generation ?? 0;
  const generation = Math.max(current + ahead, 0);
  const [name, next] = [0, 1].map((more) => `${(generation + more) % DIRECT_WINDOWS}`) as [string, string];
  const at = sdk.serverTimestamp();
  const bytes = (of: number, length = 5) => sdk.Bytes.fromUint8Array(new Uint8Array(length).fill(of));
  const window = (...nonces: unknown[]) => ({ at, nonces: sdk.arrayUnion(...nonces) });
  const hasEntries = counter !== "pages:a";
  const isUndo = hasEntries && entry !== undefined;
  const amount = (isUndo ? -1 : 1) * (counter === "tickets:c" ? -1 : 1);
  const count = sdk.increment(amount);
  const marks = { [name]: window(bytes(nonce)), [next]: sdk.deleteField() };
  const parts = { open: true, generation, count, writes: sdk.increment(1), marks };
  const whole = { group: counter.split(":")[0], total: count, direct: parts };
  const without = (field: string, { [field]: _, ...others }: Record<string, unknown>) => others;
  const ofParts = (change: object) => ({ ...whole, direct: { ...parts, ...change } });
  const changed: Record<string, object> = {
    "total alone": { ...whole, direct: without("count", parts) },
    "count alone": without("total", whole),
    "no writes": { ...whole, direct: without("writes", parts) },
    "two writes": ofParts({ writes: sdk.increment(2) }),
    fraction: { ...whole, total: sdk.increment(0.5), direct: { ...parts, count: sdk.increment(0.5) } },
    "other field": { ...whole, more: 1 },
    "other part": ofParts({ more: 1 }),
    "no marks": { ...whole, direct: without("marks", parts) },
    "two nonces": ofParts({ marks: { ...marks, [name]: window(bytes(nonce), bytes(nonce + 1)) } }),
    "long nonce": ofParts({ marks: { ...marks, [name]: window(bytes(nonce, 6)) } }),
    "own time": ofParts({ marks: { ...marks, [name]: { ...marks[name], at: sdk.Timestamp.fromMillis(1) } } }),
    "other window": ofParts({
      marks: { [`${(generation + 2) % DIRECT_WINDOWS}`]: marks[name], [next]: sdk.deleteField() },
    }),
    "next window": ofParts({ marks: { [name]: marks[name], [next]: window(bytes(nonce)) } }),
    "next kept": ofParts({ marks: { [name]: marks[name] } }),
    "not open": { ...whole, direct: without("open", parts) },
    shut: ofParts({ open: false }),
    "other group": { ...whole, group: "other" },
    replace: ofParts({ marks: { [name]: marks[name] } }),
    "extra mark": ofParts({ marks: { ...marks, [`${(generation + 3) % DIRECT_WINDOWS}`]: window(bytes(nonce)) } }),
  };
  const put = async (data: object) => await run(server.doc(path).set(data));
  const old = (age: number, from: number) => ({
    at: ago(age),
    nonces: [0, 1, 2, 3].map((n) => new Uint8Array(5).fill(100 + from + n)),
  });
  const total = { group: counter.split(":")[0], total: 3 };
  const stored = { open: true, generation: current, count: 3, writes: 3 };
  const before = `${(current + DIRECT_WINDOWS - 1) % DIRECT_WINDOWS}`;
  try {
    if (does === "no document") {
      await run(server.doc(path).delete());
      return "by a server";
    }
    if (does === "full") {
      const full = { [before]: old(9 + seconds, 0), [`${current % DIRECT_WINDOWS}`]: old(9, 4) };
      await put({ ...total, direct: { ...stored, marks: full } });
      return "by the functions";
    }
    if (does === "closed" || does === "opened") {
      const kept = { ...stored, open: does === "opened", generation: current + 1, marks: { [before]: old(300, 0) } };
      await put({ ...total, direct: kept });
      return "by the functions";
    }
    const ref = sdk.doc(db, path);
    const ownEntry = sdk.doc(db, `${path}/tallyEntries/${user}`);
    const inShard = { shard: "0", count, writes: sdk.increment(1), at, marks: { 0: window(bytes(nonce)) } };
    // biome-ignore lint/suspicious/noExplicitAny: a batch or a transaction of either
    const writeTo = (writer: any) => {
      const isInShard = does === "in shard 0";
      if (hasEntries && does !== "bare") {
        if (isUndo) writer.delete(ownEntry);
        else writer.set(ownEntry, { once: user, by: amount, shard: isInShard ? "0" : "direct", at });
      }
      if (isInShard || does === "undo twice") writer.set(sdk.doc(db, `${path}/shards/0`), inShard, { merge: true });
      if (!isInShard) writer.set(ref, changed[does] ?? whole, { merge: does !== "replace" });
    };
    if (by === "transaction")
      await run(sdk.runTransaction(db, async (tx: unknown) => void writeTo(tx), { maxAttempts: 1 }));
    else {
      const batch = sdk.writeBatch(db);
      writeTo(batch);
      await run(batch.commit());
    }
    return "accepted";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("the model accepts the same direct increments as the emulator", LONG, async () => {
  setDirectPolicy(() => true);
  const real = (user: string) => emulator.environment.authenticatedContext(user).firestore();
  const users = { ada: real("ada"), bob: real("bob") };
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomFor(seed, "direct");
    await emulator.environment.clearFirestore();
    const { connect, run, scheduler } = createModel();
    const models = { ada: new modelWeb.Firestore(connect("ada")), bob: new modelWeb.Firestore(connect("bob")) };
    const ours = {
      server: new modelAdmin.Firestore(connect("server")),
      sdk: modelWeb,
      ago: (seconds: number) => modelAdmin.Timestamp.fromMicros(scheduler.now - seconds * 1e6),
      run,
    };
    const theirs = {
      server: emulator.firestore,
      sdk: realWeb,
      ago: (seconds: number) => realAdmin.Timestamp.fromMillis(Date.now() - seconds * 1e3),
      run: <T>(call: Promise<T>) => call,
    };
    for (let i = 0; i < 80; i++) {
      const step = randomDirectWrite(random);
      const path = `counters/${step.counter}`;
      const entry = await emulator.firestore.doc(`${path}/tallyEntries/${step.user}`).get();
      const before = await emulator.firestore.doc(path).get();
      const stored: Stored = { direct: before.get("direct"), entry: entry.get("shard") };
      const expected = await performDirectWrite({ ...theirs, db: users[step.user] }, step, stored);
      const actual = await performDirectWrite({ ...ours, db: models[step.user] }, step, stored);
      const kind = `${step.does}: ${expected}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      const what = `seed ${seed}, step ${i}: ${JSON.stringify(step)} on ${JSON.stringify(before.data())}`;
      expect(actual, what).toBe(expected);
      for (const one of [path, `${path}/shards/0`, `${path}/tallyEntries/${step.user}`]) {
        const [expected, actual] = [await emulator.firestore.doc(one).get(), await run(ours.server.doc(one).get())];
        expect(plain(actual.data()), what).toEqual(plain(expected.data()));
      }
    }
  }
  for (const kind of ["increment: accepted", "increment: permission-denied", "in shard 0: accepted"])
    expect(seen.get(kind), `${kind} of ${JSON.stringify([...seen])}`).toBeGreaterThan(5);
});
