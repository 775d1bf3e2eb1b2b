/** The model of the rules compared with the emulator: the same random writes of clients on both, step by step. */
import * as realAdmin from "@google-cloud/firestore";
import * as realWeb from "firebase/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIRECT_SLOTS } from "../../../core/src/index.ts";
import { type Random, randomFor } from "../../../core/testing/random.ts";
import * as modelAdmin from "../model/adminSdk.ts";
import { setDirectPolicy } from "../model/directRules.ts";
import * as modelWeb from "../model/webSdk.ts";
import { connectToEmulator, createModel, type Emulator, LONG, plain } from "./comparison.ts";

let emulator: Emulator;
let users: Record<User, unknown>;
beforeAll(async () => {
  emulator = await connectToEmulator("demo-tally-model-rules");
  const real = (user: User) => emulator.environment.authenticatedContext(user).firestore();
  users = { ada: real("ada"), bob: real("bob") };
});
afterAll(() => emulator.close());

type User = "ada" | "bob";

/** The real SDKs, or the models of them. */
interface Side {
  // biome-ignore lint/suspicious/noExplicitAny: either
  readonly sdk: any;
  readonly users: Readonly<Record<User, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: either
  readonly server: any;
  // biome-ignore lint/suspicious/noExplicitAny: a timestamp of either
  readonly ago: (seconds: number) => any;
  readonly run: <T>(call: Promise<T>) => Promise<T>;
}

/** A write of a client, or what a server does. */
interface Step {
  readonly user: User;
  readonly by: "batch" | "transaction";
  readonly does: string;
}

interface Comparison<One extends Step> {
  readonly name: string;
  readonly seeds: number;
  readonly steps: number;
  readonly randomStep: (random: Random) => One;
  /** @param before  the documents, as the emulator has them */
  readonly perform: (side: Side, step: One, before: readonly realAdmin.DocumentSnapshot[]) => Promise<string>;
  /** The paths of the documents that are compared after a step. */
  readonly documents: (step: One) => readonly string[];
}

/** Makes the same random steps on both sides. @returns each step with its outcome */
async function compare<One extends Step>(comparison: Comparison<One>): Promise<readonly (One & { outcome: string })[]> {
  const { name, seeds, steps, randomStep, perform, documents } = comparison;
  const seen: (One & { outcome: string })[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const random = randomFor(seed, name);
    await emulator.environment.clearFirestore();
    const { connect, run, scheduler } = createModel();
    const model: Side = {
      sdk: modelWeb,
      users: { ada: new modelWeb.Firestore(connect("ada")), bob: new modelWeb.Firestore(connect("bob")) },
      server: new modelAdmin.Firestore(connect("server")),
      ago: (seconds) => modelAdmin.Timestamp.fromMicros(scheduler.now - seconds * 1e6),
      run,
    };
    const real: Side = {
      sdk: realWeb,
      users,
      server: emulator.firestore,
      ago: (seconds) => realAdmin.Timestamp.fromMillis(Date.now() - seconds * 1e3),
      run: (call) => call,
    };
    const read = (path: string) => emulator.firestore.doc(path).get();
    for (let i = 0; i < steps; i++) {
      const step = randomStep(random);
      const before = await Promise.all(documents(step).map(read));
      const [outcome, actual] = [await perform(real, step, before), await perform(model, step, before)];
      seen.push({ ...step, outcome });
      const what = `seed ${seed}, step ${i}: ${JSON.stringify(step)} on ${JSON.stringify(before.map((one) => one.data()))}`;
      expect(actual, what).toBe(outcome);
      for (const path of documents(step)) {
        const [theirs, own] = [await read(path), await run(model.server.doc(path).get())];
        expect(plain((own as typeof theirs).data()), what).toEqual(plain(theirs.data()));
      }
    }
  }
  return seen;
}

/** Commits as a client. @returns what the rules say */
async function attempt(
  { sdk, users, run }: Side,
  { user, by }: Step,
  // biome-ignore lint/suspicious/noExplicitAny: a batch or a transaction of either
  writeTo: (writer: any) => void,
): Promise<string> {
  const db = users[user];
  try {
    if (by === "transaction")
      await run(sdk.runTransaction(db, async (transaction: unknown) => writeTo(transaction), { maxAttempts: 1 }));
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

/** A client's write of a shard, with or without an entry; or a server's write of an old slot. */
interface MarkWrite extends Step {
  readonly counter: "views:a" | "likes:b";
  readonly shard: string;
  readonly entry: "none" | "create" | "delete";
  readonly does: (typeof MARK_WRITES)[number];
  readonly slot: string;
  readonly nonce: number;
  /** Age of the slot that a server writes. */
  readonly ageSeconds: number;
}

/** What the rules never accept. */
const FORBIDDEN = [
  ...(["two slots", "other shard", "other field", "no nonce", "long nonce", "text", "own time", "no writes"] as const),
  ...(["bare removal", "removal of all"] as const),
] as const;
const MARK_WRITES = [
  ...(["increment", "increment", "increment", "increment", "increment", "increment", "increment"] as const),
  // The last three are sometimes valid: a whole slot may be new, and one of two nonces known.
  ...(["removal", "removal", "old slot", "old slot", "whole slot", "two nonces", "replace"] as const),
  ...FORBIDDEN,
] as const;

function randomMarkWrite(random: Random): MarkWrite {
  const counter = random.pick(["views:a", "likes:b"] as const);
  return {
    user: random.pick(["ada", "bob"]),
    by: random.pick(["batch", "transaction"]),
    counter,
    shard: random.pick(["0", "17"]),
    // Mostly valid.
    entry: counter === "views:a" ? "none" : random.pick(["create", "create", "delete", "delete", "none"]),
    does: random.pick(MARK_WRITES),
    slot: random.pick(["0", "2", "3", "4", "5"]),
    nonce: random.integer(0, 2),
    ageSeconds: random.pick([60, 130]),
  };
}

async function performMarkWrite(side: Side, step: MarkWrite): Promise<string> {
  const { users, server, sdk, ago, run } = side;
  const { user, counter, shard, entry, does, slot, nonce, ageSeconds } = step;
  const path = `counters/${counter}/shards/${shard}`;
  const at = sdk.serverTimestamp();
  const bytes = (of: number, length = 5) => sdk.Bytes.fromUint8Array(new Uint8Array(length).fill(of));
  const marks = { [slot]: { at, nonces: sdk.arrayUnion(bytes(nonce)) } };
  const next = `${(Number(slot) + 1) % 5}`;
  const count = sdk.increment(entry === "delete" ? -1 : 1);
  const increment = { shard, count, writes: sdk.increment(1), at, marks };
  const nonces = (...some: unknown[]) => ({
    ...increment,
    marks: { [slot]: { at, nonces: sdk.arrayUnion(...some) } },
  });
  const writes: Record<string, () => [kind: "merge" | "set" | "update", data: object]> = {
    increment: () => ["merge", increment],
    "two slots": () => ["merge", { ...increment, marks: { ...marks, 1: marks[slot] } }],
    "two nonces": () => ["merge", nonces(bytes(nonce), bytes(nonce + 1))],
    "other shard": () => ["merge", { ...increment, shard: "1" }],
    "other field": () => ["merge", { ...increment, more: 1 }],
    "no nonce": () => ["merge", { ...increment, marks: { [slot]: { at } } }],
    "long nonce": () => ["merge", nonces(bytes(nonce, 6))],
    text: () => ["merge", nonces("text")],
    "own time": () => [
      "merge",
      { ...increment, marks: { [slot]: { ...marks[slot], at: sdk.Timestamp.fromMillis(1) } } },
    ],
    "whole slot": () => [
      "update",
      { [`marks.${slot}`]: { at, nonces: [bytes(nonce)] }, count, writes: sdk.increment(1), at },
    ],
    "no writes": () => ["merge", { ...increment, writes: sdk.increment(0) }],
    replace: () => ["set", increment],
    removal: () => ["merge", { ...increment, marks: { ...marks, [next]: sdk.deleteField() } }],
    "bare removal": () => ["update", { [`marks.${slot}`]: sdk.deleteField() }],
    "removal of all": () => ["update", { marks: sdk.deleteField() }],
  };
  if (does === "old slot") {
    const old = { at: ago(ageSeconds), nonces: [new Uint8Array(5).fill(nonce)] };
    await run(server.doc(path).set({ shard, count: 1, writes: 1, marks: { [slot]: old } }, { merge: true }));
    return "by a server";
  }
  const [kind, data] = (writes[does] as (typeof writes)[string])();
  const ref = sdk.doc(users[user], path);
  const ownEntry = sdk.doc(users[user], `counters/${counter}/tallyEntries/${user}`);
  return await attempt(side, step, (writer) => {
    if (entry === "create") writer.set(ownEntry, { once: user, by: 1, shard, at });
    if (entry === "delete") writer.delete(ownEntry);
    if (kind === "update") writer.update(ref, data);
    else writer.set(ref, data, { merge: kind === "merge" });
  });
}

test("the model accepts the same increments, replays, likes, unlikes and marks as the emulator", LONG, async () => {
  const seen = await compare({
    ...{ name: "slots", seeds: 18, steps: 60 },
    randomStep: randomMarkWrite,
    perform: performMarkWrite,
    documents: ({ counter, shard }) => [`counters/${counter}/shards/${shard}`],
  });
  const times = (does: string, entry: string, outcome: string) =>
    seen.filter((step) => step.does === does && step.entry === entry && step.outcome === outcome).length;
  for (const kind of ["none", "create", "delete"])
    for (const outcome of ["accepted", "permission-denied"])
      expect(times("increment", kind, outcome), `${kind}: ${outcome}`).toBeGreaterThan(5);
  for (const outcome of ["accepted", "permission-denied"])
    expect(times("removal", "none", outcome), outcome).toBeGreaterThan(5);
  const isForbidden = ({ does }: Step) => (FORBIDDEN as readonly string[]).includes(does);
  expect(seen.filter((step) => isForbidden(step) && step.outcome === "accepted")).toEqual([]);
});

/** A client's write of a counter document, or what the functions or a server do to it. */
interface DirectWrite extends Step {
  readonly counter: (typeof DIRECT_COUNTERS)[number];
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
  ...(["no marks", "two nonces", "long nonce", "own time", "other slot", "next slot", "next kept"] as const),
  ...(["not open", "shut", "other group", "replace", "extra mark", "in shard 0", "undo twice", "bare"] as const),
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

async function performDirectWrite(
  side: Side,
  step: DirectWrite,
  [document, , entry]: readonly realAdmin.DocumentSnapshot[],
): Promise<string> {
  const { users, server, sdk, ago, run } = side;
  const { user, counter, does, ahead, nonce, seconds } = step;
  const path = `counters/${counter}`;
  const current: number = document?.get("direct.generation") ?? 0;
  const generation = Math.max(current + ahead, 0);
  const [name, next] = [0, 1].map((more) => `${(generation + more) % DIRECT_SLOTS}`) as [string, string];
  const at = sdk.serverTimestamp();
  const bytes = (of: number, length = 5) => sdk.Bytes.fromUint8Array(new Uint8Array(length).fill(of));
  const slot = (...nonces: unknown[]) => ({ at, nonces: sdk.arrayUnion(...nonces) });
  const hasEntries = counter !== "pages:a";
  const isUndo = hasEntries && entry?.exists === true;
  const amount = (isUndo ? -1 : 1) * (counter === "tickets:c" ? -1 : 1);
  const count = sdk.increment(amount);
  const marks = { [name]: slot(bytes(nonce)), [next]: sdk.deleteField() };
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
    "two nonces": ofParts({ marks: { ...marks, [name]: slot(bytes(nonce), bytes(nonce + 1)) } }),
    "long nonce": ofParts({ marks: { ...marks, [name]: slot(bytes(nonce, 6)) } }),
    "own time": ofParts({ marks: { ...marks, [name]: { ...marks[name], at: sdk.Timestamp.fromMillis(1) } } }),
    "other slot": ofParts({
      marks: { [`${(generation + 2) % DIRECT_SLOTS}`]: marks[name], [next]: sdk.deleteField() },
    }),
    "next slot": ofParts({ marks: { [name]: marks[name], [next]: slot(bytes(nonce)) } }),
    "next kept": ofParts({ marks: { [name]: marks[name] } }),
    "not open": { ...whole, direct: without("open", parts) },
    shut: ofParts({ open: false }),
    "other group": { ...whole, group: "other" },
    replace: ofParts({ marks: { [name]: marks[name] } }),
    "extra mark": ofParts({ marks: { ...marks, [`${(generation + 3) % DIRECT_SLOTS}`]: slot(bytes(nonce)) } }),
  };
  const put = async (data: object) => await run(server.doc(path).set(data));
  const old = (age: number, from: number) => ({
    at: ago(age),
    nonces: [0, 1, 2, 3].map((n) => new Uint8Array(5).fill(100 + from + n)),
  });
  const total = { group: counter.split(":")[0], total: 3 };
  const stored = { open: true, generation: current, count: 3, writes: 3 };
  const before = `${(current + DIRECT_SLOTS - 1) % DIRECT_SLOTS}`;
  if (does === "no document") {
    await run(server.doc(path).delete());
    return "by a server";
  }
  if (does === "full") {
    const full = { [before]: old(9 + seconds, 0), [`${current % DIRECT_SLOTS}`]: old(9, 4) };
    await put({ ...total, direct: { ...stored, marks: full } });
    return "by the functions";
  }
  if (does === "closed" || does === "opened") {
    const kept = { ...stored, open: does === "opened", generation: current + 1, marks: { [before]: old(300, 0) } };
    await put({ ...total, direct: kept });
    return "by the functions";
  }
  const db = users[user];
  const ownEntry = sdk.doc(db, `${path}/tallyEntries/${user}`);
  const inShard = { shard: "0", count, writes: sdk.increment(1), at, marks: { 0: slot(bytes(nonce)) } };
  const isInShard = does === "in shard 0";
  return await attempt(side, step, (writer) => {
    if (hasEntries && does !== "bare") {
      if (isUndo) writer.delete(ownEntry);
      else writer.set(ownEntry, { once: user, by: amount, shard: isInShard ? "0" : "direct", at });
    }
    if (isInShard || does === "undo twice") writer.set(sdk.doc(db, `${path}/shards/0`), inShard, { merge: true });
    if (!isInShard) writer.set(sdk.doc(db, path), changed[does] ?? whole, { merge: does !== "replace" });
  });
}

test("the model accepts the same direct increments as the emulator", LONG, async () => {
  setDirectPolicy(() => true);
  const seen = await compare({
    ...{ name: "direct", seeds: 8, steps: 80 },
    randomStep: randomDirectWrite,
    perform: performDirectWrite,
    documents: ({ counter, user }) => {
      const path = `counters/${counter}`;
      return [path, `${path}/shards/0`, `${path}/tallyEntries/${user}`];
    },
  });
  for (const kind of ["increment: accepted", "increment: permission-denied", "in shard 0: accepted"])
    expect(seen.filter(({ does, outcome }) => `${does}: ${outcome}` === kind).length, kind).toBeGreaterThan(5);
});
