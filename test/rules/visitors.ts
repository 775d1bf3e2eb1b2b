/** What clients may write to `tallyVisitors`: the hash of their own uid, and nothing else. */
import { describe, expect, test } from "vitest";
import { visitorHash } from "../../core/src/index.ts";
import { accepts, hides, newCounter, OPERATOR, PROJECT, RULES, read, refuses, shows, store } from "./environment.ts";
import { visitorsOf } from "./fuzz/oracle.ts";
import { ADMIN, database } from "./rest.ts";
import { add, append, increment, merge, remove, set, update } from "./writes.ts";

const ALICE = await visitorHash("alice");
const BOB = await visitorHash("bob");
const DIGIT = ALICE[0] as string;
/** Other visitors, in the bucket of Alice. */
const OTHERS = [`${DIGIT}000000000000000`, `${DIGIT}111111111111111`];

const bucketOf = (counter: string, id = DIGIT) => `${counter}/tallyVisitors/${id}`;
const visit = (counter: string, hash: unknown, id = DIGIT) => merge(bucketOf(counter, id), { visitors: append(hash) });
const visitors = async (counter: string) => visitorsOf(await read(bucketOf(counter)));

describe.concurrent("a visitor", () => {
  test.each(["views", "visitors"])(
    "of %s adds the hash of their own uid once, to a bucket of one digit or two",
    async (group) => {
      const counter = newCounter(group);
      for (const id of [DIGIT, DIGIT, ALICE.slice(0, 2)]) await accepts("alice", visit(counter, ALICE, id));
      expect(await visitors(counter)).toEqual([ALICE]);
    },
  );

  test("is added after those of others, also in one commit with a view", async () => {
    const counter = newCounter();
    await store(bucketOf(counter), { visitors: OTHERS });
    await accepts("alice", increment(`${counter}/shards/0`), visit(counter, ALICE));
    expect(await visitors(counter)).toEqual([...OTHERS, ALICE]);
  });

  test.each(["likes:visited", "home", "visitor:home", "views:a\u0001b"])(
    "is refused where visitors are not counted: %j",
    (id) => refuses("alice", visit(`counters/${id}`, ALICE)),
  );

  test("is refused without a user, and with another's hash", async () => {
    const counter = newCounter();
    for (const user of [null, "bob"]) await refuses(user, visit(counter, ALICE));
    await refuses("bob", set(bucketOf(counter, BOB[0]), { visitors: append(BOB, ALICE) }));
  });

  test.each([ALICE.slice(0, 3), "g", "0", "00", "base", BOB[0] as string])("is refused in the bucket %s", (id) =>
    refuses("alice", visit(newCounter(), ALICE, id)),
  );

  test.each([1, "", "alice", ALICE.toUpperCase(), ALICE.slice(0, 15), `${ALICE}0`, { hash: ALICE }, true])(
    "is refused as %j",
    (hash) => refuses("alice", visit(newCounter(), hash)),
  );

  test.each([
    { visitors: ALICE },
    { visitors: { [ALICE]: 1 } },
    { visitors: [ALICE, ALICE] },
    { visitors: add(1) },
    {},
    { visitors: [ALICE], at: 1 },
  ])("is refused in another form: %j", (data) => refuses("alice", set(bucketOf(newCounter()), data)));

  test("neither removes nor replaces nor reorders others, and cannot mend what a server has damaged", async () => {
    const [counter, damaged] = [newCounter(), newCounter()];
    const bucket = bucketOf(counter);
    await store(bucket, { visitors: OTHERS });
    for (const hashes of [[ALICE], [OTHERS[0], ALICE], [ALICE, ...OTHERS]])
      await refuses("alice", set(bucket, { visitors: hashes }));
    await refuses("alice", update(bucket, { visitors: OTHERS.slice(1) }));
    await refuses("alice", remove(bucket));
    await store(bucketOf(damaged), { visitors: "none" });
    await refuses("alice", visit(damaged, ALICE));
  });

  test("is refused beyond 5,000 that were not merged", async () => {
    // In a project of its own: a report of coverage has every value of every expression.
    const project = await database(`${PROJECT}-many`, RULES);
    const many = Array.from({ length: 5_000 }, (_, i) => `${DIGIT}${String(i).padStart(15, "0")}`);
    for (const [hashes, status] of [
      [many, 403],
      [many.slice(1), 200],
    ] as const) {
      const counter = newCounter();
      await project.commit(ADMIN, [set(bucketOf(counter), { visitors: hashes })]);
      expect(await project.commit("alice", [visit(counter, ALICE)])).toBe(status);
    }
  });
});

describe.concurrent("who has been there", () => {
  test("is read by no client, not even the visitor's", async () => {
    const bucket = bucketOf(newCounter());
    await store(bucket, { visitors: [ALICE] });
    await hides(bucket, "alice");
    await hides(bucket.slice(0, bucket.lastIndexOf("/")), "alice");
  });

  test("by design: is told to a client that guesses all who wait in a bucket", async () => {
    const bucket = bucketOf(newCounter());
    await store(bucket, { visitors: OTHERS });
    await refuses("alice", set(bucket, { visitors: [ALICE] }));
    await accepts("alice", set(bucket, { visitors: [...OTHERS, ALICE] }));
  });

  test("is in the sketch, which operators alone read and clients do not write", async () => {
    const sketch = `${newCounter()}/tallySketches/uniques`;
    await store(sketch, { format: "sparse" });
    await hides(sketch, null, "alice");
    await shows(sketch, OPERATOR);
    await refuses(OPERATOR, set(sketch, { format: "dense" }));
  });
});
