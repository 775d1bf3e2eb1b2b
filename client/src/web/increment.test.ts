/** Increments in batches and transactions, up to the write itself. `test/client` has what happens at the server. */
import { Transaction, type WriteBatch } from "firebase/firestore";
import { expect, test } from "vitest";
import { CounterError } from "../../../core/src/index.ts";
import { silentFirestore } from "../../testing/silentFirestore.ts";
import { counter } from "./counter.ts";
import { incrementCounterIn, prepareIncrement } from "./increment.ts";

const it = silentFirestore();

/** A transaction or a batch that records its writes. */
function writer(prototype: object = {}) {
  const written: { path: string; fields: Record<string, unknown> }[] = [];
  const set = ({ path }: { path: string }, fields: Record<string, unknown>) => written.push({ path, fields });
  return { written, writer: Object.assign(Object.create(prototype), { set }) };
}
const transaction = () => writer(Transaction.prototype) as { written: object[]; writer: Transaction };

test("a transaction refuses an increment that was not prepared, and the error says what to do", () => {
  const { writer, written } = transaction();
  const bare = () => incrementCounterIn(writer as unknown as WriteBatch, counter(it.db, "sales:shoes"));
  expect(bare).toThrow(CounterError);
  expect(bare).toThrow(expect.objectContaining({ code: "counter/invalid-option" }));
  expect(bare).toThrow(/a transaction may run twice; call prepareIncrement before it, and pass its result/);
  expect(written).toEqual([]);
});

test("a prepared increment is the same write in each run of a transaction", () => {
  const sale = prepareIncrement(counter(it.db, "sales:shoes"), 3);
  const [first, second] = [transaction(), transaction()];
  incrementCounterIn(first.writer, sale);
  incrementCounterIn(second.writer, sale);
  expect(first.written).toHaveLength(1);
  expect(second.written).toEqual(first.written);
  const other = transaction();
  incrementCounterIn(other.writer, prepareIncrement(counter(it.db, "sales:shoes"), 3));
  expect(other.written).not.toEqual(first.written);
});

test("an increment in a batch writes the fields that the rules require", () => {
  const { written, writer: batch } = writer();
  incrementCounterIn(batch, counter(it.db, "views:home"));
  const [{ path, fields }] = written as [(typeof written)[0]];
  expect(path).toBe("counters/views:home/shards/0");
  expect(Object.keys(fields).sort()).toEqual(["at", "count", "marks", "shard", "writes"]);
  expect(fields.shard).toBe("0");
  const [[slot, mark]] = Object.entries(fields.marks as object) as [[string, object]];
  expect(slot).toMatch(/^[0-9a-f]$/);
  expect(Object.keys(mark).sort()).toEqual(["at", "nonces"]);
});

const invalidBatch = (message: RegExp) =>
  expect.objectContaining({ code: "counter/invalid-batch", message: expect.stringMatching(message) });

test.each(["a batch", "a transaction"])(
  "%s takes six increments with once, and tells of the seventh what to do",
  (kind) => {
    const { writer: one, written } = kind === "a batch" ? writer() : transaction();
    const add = (id: string, once?: string) => {
      incrementCounterIn(
        one as WriteBatch,
        prepareIncrement(counter(it.db, id), 1, once === undefined ? {} : { once }),
      );
    };
    for (let n = 0; n < 6; n++) add(`likes:${n}`, "alice");
    for (let n = 0; n < 30; n++) add(`views:${n}`);
    const before = written.length;
    expect(() => add("likes:6", "alice")).toThrow(invalidBatch(/20 documents.*6 increments with once.*second batch/));
    expect(written).toHaveLength(before);
    add("views:more");
    incrementCounterIn(writer().writer as WriteBatch, counter(it.db, "likes:6"), 1, { once: "alice" });
  },
);

test("a batch takes one increment of a counter, and a transaction that runs again takes the same", () => {
  const { writer: batch, written } = writer();
  const sale = prepareIncrement(counter(it.db, "sales:shoes"));
  incrementCounterIn(batch as WriteBatch, sale);
  const twice = invalidBatch(/has an increment of counters\/sales:shoes.*second batch/);
  expect(() => incrementCounterIn(batch as WriteBatch, counter(it.db, "sales:shoes"))).toThrow(twice);
  expect(written).toHaveLength(1);
  for (let run = 0; run < 2; run++) {
    const { writer: one } = transaction();
    incrementCounterIn(one, sale);
    expect(() => incrementCounterIn(one, sale)).toThrow(twice);
  }
});
