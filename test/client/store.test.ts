/** `counterStore` as Svelte uses stores. */

import { doc, onSnapshot } from "firebase/firestore";
import { type CounterState, counter, counterStore, getCounter, incrementCounter, onCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { derived, get } from "svelte/store";
import { afterAll, expect, test } from "vitest";
import { admin, client } from "../../testkit/clients.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { until } from "../../testkit/until.ts";

const phone = client();
const others = client();
afterAll(() => Promise.all([phone.close(), others.close()]));

/** Records the states that a subscriber receives. */
function recorder() {
  const told: CounterState[] = [];
  return { told, next: (state: CounterState) => void told.push(state) };
}

test("subscribe calls back at once with an empty state, then with the first snapshot", async () => {
  const store = counterStore(counter(phone.db, "store:now"));
  expect(get(store)).toEqual({});
  const first = recorder();
  const stop = store.subscribe(first.next);
  expect(first.told).toEqual([{}]);
  await until(() => first.told.length > 1, "the first total");
  expect(get(store)).toMatchObject({ total: 0, asOf: null, pending: false, fromCache: false });
  expect(get(store)).toBe(first.told.at(-1));
  expect(store.getSnapshot()).toBe(first.told.at(-1));
  stop();
});

test("a derived store follows the total", async () => {
  const ref = counter(phone.db, "store:derived");
  const label = derived(counterStore(ref), ({ total }) => (total === undefined ? "…" : `${total} views`));
  const labels: string[] = [];
  const stop = label.subscribe((text) => labels.push(text));
  expect(labels).toEqual(["…"]);
  await until(() => labels.at(-1) === "0 views", "the first total");
  const increment = incrementCounter(ref);
  await until(() => labels.at(-1) === "1 views", "the own increment");
  await increment;
  await incrementCounter(counter(others.db, ref.id));
  await until(() => labels.at(-1) === "2 views", "the increment of another client");
  stop();
  expect([...new Set(labels)]).toEqual(["…", "0 views", "1 views", "2 views"]);
});

test("subscribers share one watch, which ends with the last subscriber and starts again with the next", async () => {
  const ref = counter(phone.db, "store:shared");
  const store = counterStore(ref);
  const [a, b, c] = [recorder(), recorder(), recorder()];
  const stopA = store.subscribe(a.next);
  const stopB = store.subscribe(b.next);
  // The same function twice is two subscribers.
  const stopTwin = store.subscribe(b.next);
  const total = (of: typeof a) => of.told.at(-1)?.total;
  await until(() => total(a) === 0, "the first total");
  // Two watches would have equal objects, not the same one.
  expect(b.told.at(-1)).toBe(a.told.at(-1));
  expect(b.told).toEqual([{}, {}, a.told.at(-1), a.told.at(-1)]);

  stopA();
  stopA();
  const heardByA = a.told.length;
  await incrementCounter(counter(others.db, ref.id));
  await until(() => total(b) === 1, "the next total");
  expect(a.told).toHaveLength(heardByA);
  stopTwin();
  stopB();

  // Another watch of the same client shows when a total arrives that the store would have received, too.
  const last = store.getSnapshot();
  let seen: number | undefined;
  const stopWatch = onCounter(ref, (snapshot) => {
    seen = snapshot.total;
  });
  await incrementCounter(counter(others.db, ref.id));
  await until(() => seen === 2, "the total after that");
  expect(store.getSnapshot()).toBe(last);

  const stopC = store.subscribe(c.next);
  expect(c.told).toEqual([last]);
  await until(() => total(c) === 2, "the total");
  expect(c.told.map(({ shardCount }) => shardCount)).not.toContain(undefined);
  stopC();
  stopWatch();
});

test("a store keeps its total when the next subscriber finds an increment pending", async () => {
  const ref = counter(phone.db, "store:pending");
  const store = counterStore(ref);
  const [a, b] = [recorder(), recorder()];
  const stopA = store.subscribe(a.next);
  await until(() => a.told.at(-1)?.total === 0, "the first total");
  await goOffline(phone.db);
  const increment = incrementCounter(ref);
  await until(() => a.told.at(-1)?.pending === true, "the increment to show");
  stopA();

  const stopB = store.subscribe(b.next);
  await goOnline(phone.db);
  await increment;
  await until(() => b.told.at(-1)?.pending === false && b.told.at(-1)?.total === 1, "the total");
  expect(b.told.map(({ total }) => total)).not.toContain(undefined);
  stopB();
});

test.each(["a number", "with its version", "without own increments"])(
  "a total that a server rendered is followed by none that is older: %s",
  async (how) => {
    const page = client();
    const ref = counter(page.db, `store:rendered, ${how}`);
    // The device caches 40, and loses the network.
    await admin.doc(ref.path).set({ group: "store", total: 40, shardCount: 1, asOf: new Date(40_000) });
    const keepInCache = onSnapshot(doc(page.db, ref.path), () => {});
    expect((await getCounter(ref)).total).toBe(40);
    await goOffline(page.db);
    await admin.doc(ref.path).update({ total: 100, asOf: new Date(100_000) });
    const rendered = await server.getCounter(server.counter(admin, ref.id));
    expect(rendered.total).toBe(100);

    const { told, next } = recorder();
    const initialTotal = how === "a number" ? rendered.total : rendered;
    const optimistic = how !== "without own increments";
    const stop = counterStore(ref, { initialTotal, optimistic }).subscribe(next);
    await until(async () => (await getCounter(ref)).total === 40, "the cached total");
    const increment = incrementCounter(ref);
    if (optimistic) await until(() => told.at(-1)?.total === 101, "the own increment");
    await goOnline(page.db);
    await until(() => told.at(-1)?.fromCache === false, "the server's total");
    await increment;
    expect(Math.min(...told.map(({ total = 0 }) => total))).toBe(100);
    stop();
    keepInCache();
    await page.close();
  },
);
