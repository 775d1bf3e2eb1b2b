/** The model of Firestore compared with the emulator: the same random calls of the server SDK on both, step by step. */
import * as realAdmin from "@google-cloud/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Random, randomFor } from "../../../core/testing/random.ts";
import * as modelAdmin from "../model/adminSdk.ts";
import { connectToEmulator, createModel, type Emulator, LONG, plain } from "./comparison.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await connectToEmulator("demo-tally-model");
});
afterAll(() => emulator.close());

/** One side of the comparison. */
interface Side {
  // biome-ignore lint/suspicious/noExplicitAny: the real SDK or its model
  readonly firestore: any;
  readonly sdk: Pick<typeof realAdmin, "FieldValue" | "FieldPath" | "AggregateField"> | typeof modelAdmin;
  /** The last two update times of each document, newest first. */
  readonly updateTimes: Map<string, unknown[]>;
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
  | {
      readonly does: "ordered";
      readonly direction: "asc" | "desc";
      readonly limit: number;
      readonly offset: number;
      readonly after: string;
    }
  | { readonly does: "among"; readonly values: readonly number[]; readonly name: string }
  | { readonly does: "names"; readonly op: Operator; readonly name: string; readonly by: "string" | "reference" }
  | { readonly does: "aggregate" | "aggregates at one instant"; readonly order: string; readonly meanwhile: Write }
  | { readonly does: "before"; readonly doc: string; readonly meanwhile: Write }
  | { readonly does: "deleteAll" }
  | { readonly does: "snapshot"; readonly doc: string; readonly meanwhile: Write };

const OPERATORS = ["==", "<", "<=", ">", ">="] as const;
type Operator = (typeof OPERATORS)[number];

const DOCS = ["a/1", "a/2", "a/3", "b/1", "a/1/a/1"];

function randomWrite(random: Random): Write {
  const kind = random.pick(["create", "set", "merge", "mergeFields", "update", "update", "delete"] as const);
  const transform = {
    kind: random.pick(["increment", "serverTimestamp", "delete", "arrayUnion"]),
    of: random.integer(-3, 3),
  };
  const fields = kind === "set" || kind === "create" ? ["n", "s", "bytes"] : ["n", "s", "map", "bytes"];
  const data = Object.fromEntries(
    fields
      .filter(() => random.chance(0.6))
      .map((field) => {
        if (field === "map")
          return kind === "update"
            ? ["map.x", random.integer(0, 2)]
            : ["map", { [random.pick(["x", "y"])]: random.integer(0, 2) }];
        if (field === "s") return ["s", random.pick(["one", "two"])];
        if (field === "bytes") return ["bytes", { kind: "union of bytes", of: random.integer(0, 2) }];
        const isDelete = transform.kind === "delete" && (kind === "set" || kind === "create");
        return ["n", random.chance(0.6) && !isDelete ? transform : random.integer(0, 3)];
      }),
  );
  if ((kind === "update" || kind === "mergeFields") && Object.keys(data).length === 0) data.n = 1;
  const guard = kind === "update" || kind === "delete" ? random.pick(["none", "newest", "older"] as const) : "none";
  return { kind, doc: random.pick(DOCS), data, guard };
}

function randomStep(random: Random): Step {
  const roll = random.next();
  const doc = random.pick(DOCS);
  if (roll < 0.5) {
    // One write for each document: the emulator applies the rules to several writes of a document as one.
    const writes = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => randomWrite(random));
    const distinct = writes.filter(({ doc }, i) => writes.findIndex((other) => other.doc === doc) === i);
    return { does: random.chance(0.8) ? "commit" : "transaction", writes: distinct };
  }
  if (roll < 0.65) return { does: "read", doc };
  if (roll < 0.75) return { does: "page", limit: random.integer(1, 3), after: random.pick(["", "a/1", "a/2"]) };
  if (roll < 0.85) return { does: "snapshot", doc, meanwhile: randomWrite(random) };
  if (roll < 0.94) {
    const meanwhile = randomWrite(random);
    const order = random.pick(["", "n", "s", "__name__"]);
    const after = random.pick(["", "", "a/1", "a/2"]);
    const name = random.pick(["0", "1", "2", "3"]);
    return random.pick<Step>([
      { does: "ordered", direction: random.pick(["asc", "desc"]), limit: 2, offset: random.integer(0, 1), after },
      { does: "names", op: random.pick(OPERATORS), name, by: random.pick(["string", "reference"]) },
      { does: "among", values: [random.integer(0, 1), random.integer(2, 3)], name },
      { does: "aggregate", order, meanwhile },
      // In a transaction, the SDK does not survive the refusal of a sum by names.
      { does: "aggregates at one instant", order: order === "__name__" ? "" : order, meanwhile },
      { does: "before", doc, meanwhile },
      { does: "deleteAll" },
    ]);
  }
  const filter: [string, Operator, number] = ["n", random.pick(OPERATORS), random.integer(0, 3)];
  return {
    does: random.pick(["query", "select", "count", "sum"] as const),
    group: random.chance(0.3),
    ...(random.chance(0.6) && { filter }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the real SDK or its model
function operandOf(fieldValue: any, { kind, of }: Operand): unknown {
  if (kind === "union of bytes") return fieldValue.arrayUnion(Uint8Array.of(of, 255), Uint8Array.of(of + 1, 255));
  return fieldValue[kind](of);
}

/** Performs a step on one side. @returns its observable result */
async function perform(side: Side, root: string, step: Step): Promise<unknown> {
  const { firestore, sdk, updateTimes, run } = side;
  // biome-ignore lint/suspicious/noExplicitAny: the real SDK or its model
  const fieldValue = sdk.FieldValue as any;
  const at = (doc: string) => firestore.doc(`${root}/${doc}`);
  const put = (writer: typeof firestore, { kind, doc, data, guard }: Write) => {
    const [newest, older] = updateTimes.get(doc) ?? [];
    const time = guard === "newest" ? newest : guard === "older" ? older : undefined;
    const precondition = time ? [{ lastUpdateTime: time }] : [];
    const values = Object.fromEntries(
      Object.entries(data).map(([field, value]) => [
        field,
        typeof value === "object" && "kind" in value ? operandOf(fieldValue, value as Operand) : value,
      ]),
    );
    if (kind === "delete") writer.delete(at(doc), ...precondition);
    else if (kind === "merge") writer.set(at(doc), values, { merge: true });
    else if (kind === "mergeFields") writer.set(at(doc), values, { mergeFields: Object.keys(values) });
    else writer[kind](at(doc), values, ...(kind === "update" ? precondition : []));
  };
  const commit = async (write: Write) => {
    const batch = firestore.batch();
    put(batch, { ...write, guard: "none", kind: "merge" });
    return (await batch.commit())[0].writeTime;
  };
  const totals = (order: string) => {
    const all = firestore.collection(`${root}/a`);
    const { AggregateField } = sdk;
    const fields = { n: AggregateField.sum("n"), s: AggregateField.sum("s"), documents: AggregateField.count() };
    return (order === "" ? all : all.orderBy(order)).aggregate(fields);
  };
  // biome-ignore lint/suspicious/noExplicitAny: a snapshot of either
  const observe = (snapshot: any) => {
    const doc = snapshot.ref.path.slice(root.length + 1);
    const [newest, older] = updateTimes.get(doc) ?? [];
    const time = snapshot.updateTime;
    const isSame = String(newest && JSON.stringify(newest)) === String(time && JSON.stringify(time));
    if (time && !isSame) updateTimes.set(doc, [time, newest ?? older]);
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
        return observe(await run(at(step.doc).get()));
      case "page": {
        const query = firestore.collection(`${root}/a`).orderBy("__name__").limit(step.limit);
        const after = step.after === "" ? undefined : await run<{ exists: boolean }>(at(step.after).get());
        const from = after?.exists ? query.startAfter(after) : query;
        return (await run<realAdmin.QuerySnapshot>(from.get())).docs.map(observe);
      }
      case "snapshot": {
        // A read-only transaction reads two documents; the second is written in between.
        let snapshots: unknown[] = [];
        await run(
          firestore.runTransaction(
            async (transaction: typeof firestore) => {
              const first = await transaction.get(at(step.doc));
              await commit(step.meanwhile);
              snapshots = [first, await transaction.get(at(step.meanwhile.doc))].map((one) => plain(one.data()));
            },
            { readOnly: true },
          ),
        );
        return snapshots;
      }
      case "ordered": {
        const { direction, limit, offset, after } = step;
        const query = firestore.collection(`${root}/a`).orderBy("n", direction).offset(offset).limit(limit);
        // A query cannot start after a document without the field.
        const from = after === "" ? undefined : await run<realAdmin.DocumentSnapshot>(at(after).get());
        const page = from?.get("n") === undefined ? query : query.startAfter(from);
        return (await run<realAdmin.QuerySnapshot>(page.get())).docs.map(observe);
      }
      case "names": {
        const all = firestore.collection(`${root}/a`);
        const name = step.by === "string" ? step.name : all.doc(step.name);
        const query = all.where(sdk.FieldPath.documentId(), step.op, name).orderBy("__name__").select("n");
        return (await run<realAdmin.QuerySnapshot>(query.get())).docs.map((doc) => [doc.id, plain(doc.data())]);
      }
      case "among": {
        const id = sdk.FieldPath.documentId();
        const some = firestore.collection(`${root}/a`).where("n", "in", step.values).orderBy(id);
        return (await run<realAdmin.QuerySnapshot>(some.where(id, ">=", step.name).get())).docs.map(observe);
      }
      case "aggregate": {
        const { readTime, data } = await run<realAdmin.AggregateQuerySnapshot<never>>(totals(step.order).get()).then(
          (snapshot) => ({ readTime: snapshot.readTime, data: snapshot.data() }),
        );
        return [plain(readTime), data];
      }
      case "aggregates at one instant": {
        const seen: unknown[] = [];
        await run(
          firestore.runTransaction(
            async (transaction: typeof firestore) => {
              const first = await transaction.get(totals(step.order));
              await commit(step.meanwhile);
              const all = await transaction.get(firestore.collection(`${root}/a`).count());
              const listed = await transaction.get(firestore.collection(`${root}/a`).select("n"));
              const times = [first, all, listed].map(({ readTime }) => JSON.stringify(readTime));
              seen.push(first.data(), all.data(), listed.docs.map(observe), new Set(times).size);
            },
            { readOnly: true },
          ),
        );
        return seen;
      }
      case "before": {
        // Reads a document at the time of another commit, after the document has changed.
        return await run(
          (async () => {
            const readTime = await commit({ ...step.meanwhile, data: { n: 1 }, doc: "b/1" });
            await commit({ ...step.meanwhile, doc: step.doc });
            const read = (transaction: typeof firestore) => transaction.get(at(step.doc));
            return plain((await firestore.runTransaction(read, { readOnly: true, readTime })).data());
          })(),
        );
      }
      case "deleteAll": {
        const writer = firestore.bulkWriter();
        let deleted = 0;
        writer.onWriteResult(() => deleted++);
        const all = await run<realAdmin.QuerySnapshot>(firestore.collection(`${root}/a`).get());
        const deletions = all.docs.map(({ ref }) => writer.delete(ref));
        await run(Promise.all([writer.flush(), ...deletions]));
        await run(writer.close());
        return deleted;
      }
      default: {
        const all = step.group ? firestore.collectionGroup("a") : firestore.collection(`${root}/a`);
        const query = step.filter ? all.where(...step.filter) : all;
        if (step.does === "query") return (await run<realAdmin.QuerySnapshot>(query.get())).docs.map(observe);
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

test(
  "the model's documents, preconditions, transforms, queries and transactions behave as the emulator's",
  LONG,
  async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = randomFor(seed, "history");
      await emulator.environment.clearFirestore();
      const { connect, run } = createModel();
      const real: Side = { firestore: emulator.firestore, sdk: realAdmin, updateTimes: new Map(), run: (call) => call };
      const model: Side = {
        firestore: new modelAdmin.Firestore(connect("server")),
        sdk: modelAdmin,
        updateTimes: new Map(),
        run,
      };
      const steps: Step[] = [];
      for (let i = 0; i < 30; i++) {
        const step = randomStep(random);
        steps.push(step);
        const [expected, actual] = [await perform(real, "r/1", step), await perform(model, "r/1", step)];
        expect(
          actual,
          `seed ${seed}, step ${i}: ${JSON.stringify(steps.slice(-13))} ${JSON.stringify([expected, actual])}`,
        ).toEqual(expected);
      }
    }
  },
);
