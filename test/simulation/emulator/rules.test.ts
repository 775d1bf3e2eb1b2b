/** The model of the rules compared with the emulator: the same random writes of clients on both, step by step. */
import * as realAdmin from "@google-cloud/firestore";
import * as realWeb from "firebase/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Random, randomFor } from "../../../core/testing/random.ts";
import * as modelAdmin from "../model/adminSdk.ts";
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
