/** Calls that are ended by their `signal` while the database gives no answer. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallOptions,
  type CounterRef,
  counter,
  countVisitor,
  ensureCounter,
  forgetVisitors,
  getCounter,
  getCounterHistory,
  getCounterRank,
  getCounters,
  getExactTotal,
  getIncremented,
  getTopCounters,
  getTopItems,
  getUniques,
  incrementCounter,
  listCounters,
  publishCounter,
  reconcileCounter,
  resetCounter,
  setCounterSource,
  takeFromCounter,
  undoIncrement,
} from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEADLINE_EXCEEDED } from "../../core/src/index.ts";
import { admin, adminAt } from "../../testkit/clients.ts";
import { type CuttingProxy, cuttingProxy } from "../../testkit/tcpProxy.ts";

const source = { collection: "signalled" };
const calls: [name: string, call: (ref: CounterRef, options: CallOptions) => Promise<unknown>][] = [
  ["incrementCounter with once", (ref, options) => incrementCounter(ref, 1, { once: "order", ...options })],
  ["undoIncrement", (ref, options) => undoIncrement(ref, "user", options)],
  ["takeFromCounter", (ref, options) => takeFromCounter(ref, 1, options)],
  ["countVisitor", (ref, options) => countVisitor(ref, "user", options)],
  ["ensureCounter", (ref, options) => ensureCounter(ref, { shards: 5, ...options })],
  ["resetCounter", (ref, options) => resetCounter(ref, 0, options)],
  ["reconcileCounter", (ref, options) => reconcileCounter(ref, { source, ...options })],
  ["publishCounter", (ref, options) => publishCounter(ref, options)],
  ["forgetVisitors", (ref, options) => forgetVisitors(ref, options)],
  ["setCounterSource", (ref, options) => setCounterSource(ref, source, options)],
  ["setCounterSource with null", (ref, options) => setCounterSource(ref, null, options)],
];

let proxy: CuttingProxy;
let server: ReturnType<typeof adminAt>;
beforeAll(async () => {
  proxy = await cuttingProxy(process.env.FIRESTORE_EMULATOR_HOST as string);
  server = adminAt(proxy.address);
});
afterAll(async () => {
  await server.close();
  await proxy.close();
});

const collection = "unpublished";
/** Makes calls of the server whose answers are withheld until they have ended, and lets them find out. */
async function endInSilence(
  makeCalls: (signal: AbortSignal) => [name: string, call: Promise<unknown>][],
): Promise<void> {
  // A connection is open.
  await server.firestore.doc("any/document").get();
  proxy.withhold();
  const start = performance.now();
  const made = makeCalls(AbortSignal.timeout(300));
  const isEnded = { code: "counter/unknown-outcome", cause: { name: "TimeoutError" } };
  await Promise.all(made.map(([name, call]) => expect(call, name).rejects.toMatchObject(isEnded)));
  expect(performance.now() - start).toBeLessThan(2_000);
  proxy.cut();
}

test("calls end with their signal, and make no attempt afterwards", async () => {
  await endInSilence((signal) =>
    calls.map(([name, call]) => [name, call(counter(server.firestore, name, { collection }), { signal })]),
  );
  // Their next attempts would be made by now.
  await sleep(3_000);
  const written = async ([name]: (typeof calls)[number]) => {
    const ref = admin.doc(`${collection}/${name}`);
    return (await ref.get()).exists || (await ref.listCollections()).length > 0 ? [name] : [];
  };
  // The others first read, and have had no answer.
  expect((await Promise.all(calls.map(written))).flat()).toEqual(["publishCounter"]);
});

test("calls that wait for others make no attempt afterwards", async () => {
  const ref = counter(server.firestore, "waiting", { collection });
  // Then the shard count is known.
  await incrementCounter(ref, 1, { once: "first" });
  await endInSilence((signal) =>
    Array.from({ length: 200 }, (_, n) => [`${n}`, incrementCounter(ref, 1, { once: `order${n}`, signal })]),
  );
  await sleep(2_000);
  // As many as a process makes at a time.
  expect(await getExactTotal(counter(admin, "waiting", { collection }))).toBeLessThanOrEqual(51);
});

test("a commit that calls share goes on, so the others get their answer", async () => {
  const ref = counter(server.firestore, "shared", { collection });
  let other: Promise<void> | undefined;
  await endInSilence((signal) => {
    const ended = incrementCounter(ref, 1, { signal });
    other = incrementCounter(ref, 10);
    return [["incrementCounter", ended]];
  });
  await other;
  expect(await getExactTotal(counter(admin, "shared", { collection }))).toBe(11);
});

test.each(calls)(
  "%s does nothing with a signal that was aborted before, and takes nothing else for one",
  async (name, call) => {
    const ref = counter(admin, `${name}:before`, { collection });
    const reason = new Error("too late");
    await expect(call(ref, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(call(ref, { signal: 5_000 as never })).rejects.toMatchObject({ code: "counter/invalid-option" });
    expect(await admin.doc(ref.path).listCollections()).toEqual([]);
  },
);

test("reads end after a minute without an answer", { tags: "deep" }, async () => {
  const silent = createServer(() => {}).listen(0);
  await once(silent, "listening");
  const { firestore, close } = adminAt(`127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const ref = counter(firestore, "unread", { collection });
  const range = { from: new Date(0), to: new Date(), step: "day" } as const;
  const reads = [
    getCounter(ref),
    getCounters([ref]),
    getExactTotal(ref),
    getCounterHistory(ref, range),
    getIncremented(ref, "user"),
    getUniques([ref]),
    getTopItems(ref),
    listCounters(firestore, "unread"),
    getTopCounters(firestore, "unread"),
    getCounterRank(ref),
  ];
  const start = performance.now();
  for (const result of await Promise.allSettled(reads)) {
    expect(result).toMatchObject({ status: "rejected", reason: { code: DEADLINE_EXCEEDED } });
  }
  expect(performance.now() - start).toBeLessThan(70_000);
  silent.close();
  void close();
});
