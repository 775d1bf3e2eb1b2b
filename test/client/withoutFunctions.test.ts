/** Rules alone: increments go to the counter document, however many there are. Then the functions come, under traffic. */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, getCounter, incrementCounter, onCounter, undoIncrement } from "firestore-tally";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Client, client, signIn } from "../../testkit/clients.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { readPublished, readShards, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const PROJECT = process.env.GCLOUD_PROJECT as string;
const WITHOUT = withPolicy(OPEN_RULES, "function hasFunctions() { return false; }");

beforeAll(() => loadRules(PROJECT, WITHOUT));
afterAll(() => loadRules(PROJECT, OPEN_RULES));

const clients: Client[] = [];
const newClients = (count: number) => {
  const made = Array.from({ length: count }, () => client());
  clients.push(...made);
  return made as [Client, ...Client[]];
};
afterEach(async () => {
  await Promise.all(clients.splice(0).map((one) => one.close()));
});

/** All that was acknowledged is in the document, and nothing elsewhere. */
async function expectDirect(id: string, total: number): Promise<void> {
  expect(await readPublished(id)).toMatchObject({ total, direct: { open: true, count: total } });
  expect([...(await readShards(id))]).toEqual([]);
}

test("increments of one client, calm and ten at once, are all in the document", async () => {
  const id = "alone:one";
  const [{ db }] = newClients(1);
  const ref = counter(db, id);
  for (let n = 0; n < 4; n++) await incrementCounter(ref);
  await Promise.all(Array.from({ length: 10 }, () => incrementCounter(ref)));
  await expectDirect(id, 14);
  expect((await getCounter(ref)).total).toBe(14);
});

test.each([false, true])("ten clients at once count twice each, watching: %s", async (isWatched) => {
  const id = `alone:ten-${isWatched}`;
  const all = newClients(10).map(({ db }) => counter(db, id));
  const shown: number[] = [];
  const stops = isWatched ? all.map((ref, n) => onCounter(ref, ({ total }) => (shown[n] = total))) : [];
  await Promise.all([...all, ...all].map((ref) => incrementCounter(ref)));
  await expectDirect(id, 20);
  if (isWatched) await until(() => shown.length === 10 && shown.every((total) => total === 20), "the totals");
  for (const stop of stops) stop();
});

test("likes count once, and are undone", async () => {
  const id = "likes:alone";
  const users = await Promise.all(
    newClients(8).map(async (one) => ({ ref: counter(one.db, id), uid: await signIn(one) })),
  );
  const like = ({ ref, uid }: (typeof users)[0]) => incrementCounter(ref, 1, { once: uid });
  await Promise.all([...users, ...users].map(like));
  await expectDirect(id, 8);
  await Promise.all(users.slice(2).map(({ ref, uid }) => undoIncrement(ref, uid)));
  await expectDirect(id, 2);
  await Promise.all(users.map(like));
  await expectDirect(id, 8);
});

test("amounts that the policy refuses stay refused", async () => {
  const [{ db }] = newClients(1);
  const ref = counter(db, "alone:refused");
  for (let n = 0; n < 2; n++) await incrementCounter(ref);
  await expect(incrementCounter(ref, 2)).rejects.toMatchObject({ code: "counter/permission-denied" });
  await Promise.all(Array.from({ length: 4 }, () => incrementCounter(ref)));
  await expect(incrementCounter(ref, 2)).rejects.toMatchObject({ code: "counter/permission-denied" });
  await expectDirect("alone:refused", 6);
});

test("increments made offline count when the client is online again, also those of a counter that it has never read", async () => {
  const [known, unknown] = ["alone:offline", "alone:unread"];
  const [{ db }, other] = newClients(2) as [Client, Client];
  await incrementCounter(counter(db, known));
  await goOffline(db);
  const made = Array.from({ length: 25 }, () => incrementCounter(counter(db, known)));
  made.push(...Array.from({ length: 3 }, () => incrementCounter(counter(db, unknown))));
  await Promise.all(Array.from({ length: 6 }, () => incrementCounter(counter(other.db, known))));
  await goOnline(db);
  await Promise.all(made);
  await expectDirect(known, 32);
  await expectDirect(unknown, 3);
});

test("when the functions come, under traffic, no increment is refused, lost or doubled", async () => {
  const id = "alone:later";
  const all = newClients(6).map(({ db }) => counter(db, id));
  let acknowledged = 0;
  let isOver = false;
  const traffic = all.map(async (ref) => {
    while (!isOver) {
      await incrementCounter(ref);
      acknowledged++;
      await sleep(Math.random() * 300);
    }
  });
  await sleep(5_000);
  await expect(readShards(id)).resolves.toEqual(new Map());
  await loadRules(PROJECT, OPEN_RULES);
  await sleep(8_000);
  isOver = true;
  await Promise.all(traffic);
  expect((await readShards(id)).size).toBeGreaterThan(0);
  expect(await sumOfIncrements(id)).toBe(acknowledged);
  await until(async () => (await readPublished(id))?.total === acknowledged, "the total");
});
