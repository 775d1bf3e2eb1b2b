/** Increments in the counter document: what they cost, what watches show, and where they go when the document refuses them. */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, getCounter, getExactTotal, incrementCounter, onCounter, undoIncrement } from "firestore-tally";
import { expect, test } from "vitest";
import { admin, client, signIn } from "../../testkit/clients.ts";
import { OPEN_RULES } from "../../testkit/rules.ts";
import { readPublished, readShards, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { database, type Write } from "../rules/rest.ts";
import { directIncrement, increment } from "../rules/writes.ts";

const directOf = async (id: string) => (await admin.doc(`counters/${id}`).get()).get("direct");

test("the first increments of a counter make its document, and trigger no function", async () => {
  const id = "direct:new";
  const writer = client();
  const ref = counter(writer.db, id);
  for (let n = 0; n < 4; n++) await incrementCounter(ref);
  expect(await readPublished(id)).toMatchObject({ total: 4, group: "direct", direct: { generation: 0, count: 4 } });
  expect((await readPublished(id))?.asOf).toBeUndefined();
  expect([...(await readShards(id))]).toEqual([]);
  expect((await getCounter(ref)).total).toBe(4);
  expect(await getExactTotal(ref)).toBe(4);
  await writer.close();
});

test("a counter that many increment at once goes on to shards: each increment counts once", async () => {
  const id = "direct:crowd";
  const clients = Array.from({ length: 10 }, () => client());
  await Promise.all([...clients, ...clients].map(({ db }) => incrementCounter(counter(db, id))));
  expect((await readShards(id)).size).toBeGreaterThan(0);
  expect(await sumOfIncrements(id)).toBe(20);
  await until(async () => (await readPublished(id))?.total === 20, "the total");
  await Promise.all(clients.map((one) => one.close()));
});

test("a watch shows own increments at once and others' when they are made, without a dip", async () => {
  const id = "direct:watched";
  const [one, other] = [client(), client()];
  const shown: number[][] = [[], []];
  const stops = [one, other].map(({ db }, n) => onCounter(counter(db, id), ({ total }) => void shown[n]?.push(total)));
  await until(() => shown.every((totals) => totals.length > 0), "the first totals");
  for (let n = 1; n <= 12; n++) {
    const done = incrementCounter(counter(one.db, id));
    await until(() => shown[0]?.at(-1) === n, `the own total ${n}`);
    await done;
    await until(() => shown[1]?.at(-1) === n, `the other's total ${n}`);
  }
  for (const totals of shown) expect(totals).toEqual([...totals].sort((a, b) => a - b));
  for (const stop of stops) stop();
  await Promise.all([one, other].map((each) => each.close()));
});

test("a like in the document is undone there, or on a shard if the document is closed meanwhile", async () => {
  const [here, closed] = ["likes:direct", "likes:closed"];
  const alice = client();
  const uid = await signIn(alice);
  for (const id of [here, closed]) {
    await incrementCounter(counter(alice.db, id), 1, { once: uid });
    expect(await directOf(id)).toMatchObject({ count: 1 });
  }
  await admin.doc(`counters/${closed}`).update({ "direct.open": false });
  for (const id of [here, closed]) await undoIncrement(counter(alice.db, id), uid);
  expect(await directOf(here)).toMatchObject({ count: 0, writes: 2 });
  expect(await directOf(closed)).toMatchObject({ count: 1, writes: 1 });
  for (const id of [here, closed]) expect(await sumOfIncrements(id)).toBe(0);
  await alice.close();
});

test("clients that write the document as fast as they can do not keep the functions from publishing", {
  tags: "deep",
}, async () => {
  const path = "counters/direct:blocked";
  const { commit } = await database(process.env.GCLOUD_PROJECT as string, OPEN_RULES);
  const accepted = { honest: 0, hostile: 0 };
  const write = async (write: Write) => (await commit(null, [write])) === 200;
  const published = async () => (await admin.doc(path).get()).data() ?? {};
  await write(directIncrement(path));
  accepted.hostile++;
  const end = Date.now() + 8_000;
  const attack = async (next: number) => {
    while (Date.now() < end) {
      const { direct } = await published();
      if (await write(directIncrement(path, direct.generation + next))) accepted.hostile++;
    }
  };
  const instants = new Set<number>();
  let greatestAge = 0;
  const watch = async () => {
    while (Date.now() < end) {
      await sleep(100);
      const asOf: number | undefined = (await published()).asOf?.toMillis();
      if (!asOf) continue;
      instants.add(asOf);
      greatestAge = Math.max(greatestAge, Date.now() - asOf);
    }
  };
  const beHonest = async () => {
    while (Date.now() < end) {
      await sleep(1_000);
      expect(await write(increment(`${path}/shards/0`))).toBe(true);
      accepted.honest++;
    }
  };
  await Promise.all([...[0, 0, 0, 1, 1].map(attack), watch(), beHonest()]);
  expect(instants.size).toBeGreaterThan(2);
  expect(greatestAge).toBeLessThan(5_000);
  await until(async () => (await published()).total === accepted.honest + accepted.hostile, "the exact total");
});
