/** The simulation's model of Firestore against the real emulator: the same random histories on both, step by step. */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment, type RulesTestEnvironment } from "@firebase/rules-unit-testing";
import * as realAdmin from "@google-cloud/firestore";
import * as realWeb from "firebase/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Faults } from "./simulation/faults.ts";
import * as modelAdmin from "./simulation/model/adminSdk.ts";
import { Database } from "./simulation/model/database.ts";
import { Connection, type Network } from "./simulation/model/network.ts";
import * as modelWeb from "./simulation/model/webSdk.ts";
import { type Random, randomFor } from "./simulation/random.ts";
import { Process, Scheduler } from "./simulation/scheduler.ts";

/** A project of its own, which no function watches. */
const PROJECT = "demo-tally-model";

realWeb.setLogLevel("silent");
let environment: RulesTestEnvironment;
let firestore: realAdmin.Firestore;

beforeAll(async () => {
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  const rules = readFileSync("firestore.rules", "utf8");
  environment = await initializeTestEnvironment({ projectId: PROJECT, firestore: { host, port: Number(port), rules } });
  firestore = new realAdmin.Firestore({ projectId: PROJECT });
});
afterAll(async () => {
  await firestore.terminate();
  await environment.cleanup();
});

/** The model, with nothing going wrong. */
function perfectWorld() {
  const scheduler = new Scheduler(1e15);
  const ignore = () => {};
  const network: Network = {
    scheduler,
    database: new Database(),
    faults: new Faults([], 0, 0),
    lag: 0,
    onCommit: ignore,
    onRead: ignore,
    onTransaction: ignore,
    log: ignore,
  };
  const connect = (name: string) => new Connection(network, new Process(name, 1));
  const run = async <T>(call: Promise<T>): Promise<T> => {
    call.catch(ignore);
    await scheduler.runUntil(scheduler.now + 1e6);
    return await call;
  };
  return { connect, run };
}

/** What both sides of a comparison offer. */
interface Side {
  // biome-ignore lint/suspicious/noExplicitAny: the real SDK or the model of it
  readonly firestore: any;
  readonly sdk: Pick<typeof realAdmin, "FieldValue" | "AggregateField"> | typeof modelAdmin;
  /** The update times last seen, by document: the newest and the one before. */
  readonly seen: Map<string, unknown[]>;
  run<T>(call: Promise<T>): Promise<T>;
}

type Operand = { readonly kind: string; readonly of: number };
type Write = {
  readonly kind: "create" | "set" | "merge" | "mergeFields" | "update" | "delete";
  readonly doc: string;
  readonly data: Record<string, number | string | Operand | { readonly [field: string]: number }>;
  readonly guard: "none" | "newest" | "older";
};
type Step =
  | { readonly does: "commit" | "transaction"; readonly writes: readonly Write[] }
  | { readonly does: "read"; readonly doc: string }
  | {
      readonly does: "query" | "select" | "count" | "sum";
      readonly group: boolean;
      readonly filter?: [string, Operator, number];
    }
  | { readonly does: "page"; readonly limit: number; readonly after: string }
  | { readonly does: "snapshot"; readonly doc: string; readonly meanwhile: Write };

const OPERATORS = ["==", "<", "<=", ">", ">="] as const;
type Operator = (typeof OPERATORS)[number];

const DOCS = ["a/1", "a/2", "a/3", "b/1", "a/1/a/1"];

function aWrite(random: Random): Write {
  const kind = random.pick(["create", "set", "merge", "mergeFields", "update", "update", "delete"] as const);
  const transform = {
    kind: random.pick(["increment", "serverTimestamp", "delete"]),
    of: random.integer(-3, 3),
  };
  const fields = kind === "set" || kind === "create" ? ["n", "s"] : ["n", "s", "map"];
  const data = Object.fromEntries(
    fields
      .filter(() => random.chance(0.6))
      .map((field) => {
        if (field === "map")
          return kind === "update"
            ? ["map.x", random.integer(0, 2)]
            : ["map", { [random.pick(["x", "y"])]: random.integer(0, 2) }];
        if (field === "s") return ["s", random.pick(["one", "two"])];
        const isDelete = transform.kind === "delete" && (kind === "set" || kind === "create");
        return ["n", random.chance(0.6) && !isDelete ? transform : random.integer(0, 3)];
      }),
  );
  if ((kind === "update" || kind === "mergeFields") && Object.keys(data).length === 0) data.n = 1;
  const guard = kind === "update" || kind === "delete" ? random.pick(["none", "newest", "older"] as const) : "none";
  return { kind, doc: random.pick(DOCS), data, guard };
}

function aStep(random: Random): Step {
  const roll = random.next();
  const doc = random.pick(DOCS);
  if (roll < 0.5) {
    // One write a document: in one commit, the emulator judges several as one.
    const writes = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => aWrite(random));
    const distinct = writes.filter(({ doc }, i) => writes.findIndex((other) => other.doc === doc) === i);
    return { does: random.chance(0.8) ? "commit" : "transaction", writes: distinct };
  }
  if (roll < 0.65) return { does: "read", doc };
  if (roll < 0.75) return { does: "page", limit: random.integer(1, 3), after: random.pick(["", "a/1", "a/2"]) };
  if (roll < 0.85) return { does: "snapshot", doc, meanwhile: aWrite(random) };
  const filter: [string, Operator, number] = ["n", random.pick(OPERATORS), random.integer(0, 3)];
  return {
    does: random.pick(["query", "select", "count", "sum"] as const),
    group: random.chance(0.3),
    ...(random.chance(0.6) && { filter }),
  };
}

/** Performs a step on one side. @returns what can be seen of it */
async function perform(side: Side, root: string, step: Step): Promise<unknown> {
  const { firestore, sdk, seen, run } = side;
  // biome-ignore lint/suspicious/noExplicitAny: the real SDK or the model of it
  const fieldValue = sdk.FieldValue as any;
  const at = (doc: string) => firestore.doc(`${root}/${doc}`);
  const put = (writer: typeof firestore, { kind, doc, data, guard }: Write) => {
    const [newest, older] = seen.get(doc) ?? [];
    const time = guard === "newest" ? newest : guard === "older" ? older : undefined;
    const precondition = time ? [{ lastUpdateTime: time }] : [];
    const values = Object.fromEntries(
      Object.entries(data).map(([field, value]) => [
        field,
        typeof value === "object" && "kind" in value ? fieldValue[value.kind as string](value.of) : value,
      ]),
    );
    if (kind === "delete") writer.delete(at(doc), ...precondition);
    else if (kind === "merge") writer.set(at(doc), values, { merge: true });
    else if (kind === "mergeFields") writer.set(at(doc), values, { mergeFields: Object.keys(values) });
    else writer[kind](at(doc), values, ...(kind === "update" ? precondition : []));
  };
  // biome-ignore lint/suspicious/noExplicitAny: a snapshot of either
  const look = (snapshot: any) => {
    const doc = snapshot.ref.path.slice(root.length + 1);
    const [newest, older] = seen.get(doc) ?? [];
    const time = snapshot.updateTime;
    const isSame = String(newest && JSON.stringify(newest)) === String(time && JSON.stringify(time));
    if (time && !isSame) seen.set(doc, [time, newest ?? older]);
    return { doc, fields: plain(snapshot.data()), isSame };
  };
  try {
    switch (step.does) {
      case "commit": {
        const batch = firestore.batch();
        for (const write of step.writes) put(batch, write);
        await run(batch.commit());
        return "committed";
      }
      case "transaction":
        return await run(
          firestore.runTransaction(async (transaction: typeof firestore) => {
            const read = await transaction.get(at(step.writes[0]?.doc ?? "a/1"));
            for (const write of step.writes) put(transaction, write);
            return plain(read.data());
          }),
        );
      case "read":
        return look(await run(at(step.doc).get()));
      case "page": {
        const query = firestore.collection(`${root}/a`).orderBy("__name__").limit(step.limit);
        const after = step.after === "" ? undefined : await run<{ exists: boolean }>(at(step.after).get());
        const from = after?.exists ? query.startAfter(after) : query;
        return (await run<realAdmin.QuerySnapshot>(from.get())).docs.map(look);
      }
      case "snapshot": {
        // Two reads of one read-only transaction, and a write of the second document in between.
        let snapshots: unknown[] = [];
        const batch = firestore.batch();
        put(batch, { ...step.meanwhile, guard: "none", kind: "merge" });
        await run(
          firestore.runTransaction(
            async (transaction: typeof firestore) => {
              const first = await transaction.get(at(step.doc));
              await batch.commit();
              snapshots = [first, await transaction.get(at(step.meanwhile.doc))].map((one) => plain(one.data()));
            },
            { readOnly: true },
          ),
        );
        return snapshots;
      }
      default: {
        const all = step.group ? firestore.collectionGroup("a") : firestore.collection(`${root}/a`);
        const query = step.filter ? all.where(...step.filter) : all;
        if (step.does === "query") return (await run<realAdmin.QuerySnapshot>(query.get())).docs.map(look);
        if (step.does === "select") {
          return (await run<realAdmin.QuerySnapshot>(query.select("n").get())).docs.map((doc) => plain(doc.data()));
        }
        const field = step.does === "count" ? sdk.AggregateField.count() : sdk.AggregateField.sum("n");
        return (await run<{ data(): unknown }>(query.aggregate({ result: field }).get())).data();
      }
    }
  } catch (error) {
    const { code } = error as { code?: number };
    if (code === undefined) throw error;
    return `error ${code}`;
  }
}

/** Values as they can be compared: of a server's time, only that it is one. */
function plain(value: unknown): unknown {
  if (value instanceof realAdmin.Timestamp || value instanceof modelAdmin.Timestamp) return "timestamp";
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, plain(inner)]));
}

test("documents, preconditions, transforms, queries and transactions are those of the emulator", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomFor(seed, "history");
    await environment.clearFirestore();
    const { connect, run } = perfectWorld();
    const real: Side = { firestore, sdk: realAdmin, seen: new Map(), run: (call) => call };
    const ours: Side = {
      firestore: new modelAdmin.Firestore(connect("server")),
      sdk: modelAdmin,
      seen: new Map(),
      run,
    };
    const steps: Step[] = [];
    for (let i = 0; i < 30; i++) {
      const step = aStep(random);
      steps.push(step);
      const [expected, actual] = [await perform(real, "r/1", step), await perform(ours, "r/1", step)];
      expect(
        actual,
        `seed ${seed}, step ${i}: ${JSON.stringify(steps.slice(-13))} ${JSON.stringify([expected, actual])}`,
      ).toEqual(expected);
    }
  }
});

/** A client's batch: an increment of a shard, with or without its user's entry. */
interface ClientStep {
  readonly user: "ada" | "bob";
  readonly counter: string;
  readonly shard: string;
  readonly by: 1 | -1;
  readonly entry: "none" | "create" | "delete";
  readonly slot: string;
  readonly nonce: string;
}

function aClientStep(random: Random): ClientStep {
  const counter = random.pick(["views:a", "likes:b", "likes:b"]);
  // Mostly what a client would send; few slots and nonces, so that some are replays.
  const entry = counter === "views:a" ? "none" : random.pick(["create", "create", "delete", "none"] as const);
  return {
    user: random.pick(["ada", "bob"]),
    counter,
    shard: random.pick(["0", "1"]),
    by: entry === "delete" ? -1 : 1,
    entry,
    slot: random.pick(["0", "1", "2"]),
    nonce: `nonce-no-${random.integer(0, 4)}`,
  };
}

async function performAsClient(
  // biome-ignore lint/suspicious/noExplicitAny: the real SDK or the model of it
  { db, sdk, run }: { db: any; sdk: any; run: <T>(call: Promise<T>) => Promise<T> },
  { user, counter, shard, by, entry, slot, nonce }: ClientStep,
): Promise<string> {
  const batch = sdk.writeBatch(db);
  const at = sdk.serverTimestamp();
  const ownEntry = sdk.doc(db, `counters/${counter}/entries/${user}`);
  if (entry === "create") batch.set(ownEntry, { by, shard, at });
  if (entry === "delete") batch.delete(ownEntry);
  const write = { count: sdk.increment(by), writes: sdk.increment(1), at, marks: { [slot]: nonce } };
  batch.set(sdk.doc(db, `counters/${counter}/shards/${shard}`), write, { merge: true });
  try {
    await run(batch.commit());
    return "accepted";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("what the rules accept of clients that increment, replay, like and unlike is what they accept in the emulator", async () => {
  const real = (user: string) => environment.authenticatedContext(user).firestore() as unknown as realWeb.Firestore;
  const users = { ada: real("ada"), bob: real("bob") };
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomFor(seed, "clients");
    await environment.clearFirestore();
    const { connect, run } = perfectWorld();
    const ours = { ada: new modelWeb.Firestore(connect("ada")), bob: new modelWeb.Firestore(connect("bob")) };
    const server = new modelAdmin.Firestore(connect("server"));
    for (let i = 0; i < 40; i++) {
      const step = aClientStep(random);
      const expected = await performAsClient({ db: users[step.user], sdk: realWeb, run: (call) => call }, step);
      const actual = await performAsClient({ db: ours[step.user], sdk: modelWeb, run }, step);
      seen.set(expected, (seen.get(expected) ?? 0) + 1);
      expect(actual, `seed ${seed}, step ${i}: ${JSON.stringify(step)}`).toBe(expected);
    }
    for (const path of ["views:a/shards/0", "views:a/shards/1", "likes:b/shards/0", "likes:b/shards/1"]) {
      const [expected, actual] = [firestore.doc(`counters/${path}`).get(), server.doc(`counters/${path}`).get()];
      expect(plain((await run(actual)).data()), `seed ${seed}, ${path}`).toEqual(plain((await expected).data()));
    }
  }
  expect(seen.get("accepted")).toBeGreaterThan(80);
  expect(seen.get("permission-denied")).toBeGreaterThan(80);
});
