/** The built package refuses a reference or a database of the web SDK in the server SDK, and the reverse. */
import { Firestore as ServerFirestore } from "@google-cloud/firestore";
import { initializeApp } from "firebase/app";
import { getFirestore, terminate, writeBatch } from "firebase/firestore";
import { afterAll, describe, expect, test } from "vitest";

/** The functions of an entry, called with any arguments, as from JavaScript. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments are wrong on purpose
type Api = any;

describe("a reference or a database of the other SDK", async () => {
  const built = async (entry: string): Promise<Api> => import(new URL(`dist/${entry}.js`, import.meta.url).href);
  const [web, admin] = [await built("index"), await built("admin")];
  const webDb = getFirestore(initializeApp({ projectId: "demo-tally-other-sdk" }, "other-sdk"));
  const serverDb = new ServerFirestore({ projectId: "demo-tally-other-sdk" });
  afterAll(() => Promise.all([terminate(webDb), serverDb.terminate()]));

  /** Calls of every function with a reference. */
  const calls = (api: Api, ref: unknown, batch: unknown): Record<string, () => unknown> => ({
    incrementCounter: () => api.incrementCounter(ref),
    "incrementCounter with a key": () => api.incrementCounter(ref, 1, { key: "ada" }),
    incrementCounterIn: () => api.incrementCounterIn(batch, ref),
    undoIncrement: () => api.undoIncrement(ref, "ada"),
    takeFromCounter: () => api.takeFromCounter(ref, 1, { key: "ada" }),
    getCounter: () => api.getCounter(ref),
    getExactCounter: () => api.getExactCounter(ref),
    onCounter: () => api.onCounter(ref, () => {}),
    hasIncremented: () => api.hasIncremented(ref, "ada"),
    onIncremented: () => api.onIncremented(ref, "ada", () => {}),
    counterHistory: () => api.counterHistory(ref, { from: new Date(0), to: new Date(1), step: "hour" }),
    counterRank: () => api.counterRank(ref),
  });
  const serverCalls = (ref: unknown): Record<string, () => unknown> => ({
    ...calls(admin, ref, serverDb.batch()),
    ensureCounter: () => admin.ensureCounter(ref),
    "ensureCounter with shards": () => admin.ensureCounter(ref, { shards: 10 }),
    resetCounter: () => admin.resetCounter(ref, 0),
    setSource: () => admin.setSource(ref, { entries: true }),
    reconcileCounter: () => admin.reconcileCounter(ref, { source: { entries: true } }),
    deleteCounter: () => admin.deleteCounter(ref),
    counter: () => admin.counter(webDb, "views:home"),
    "counter without a database": () => admin.counter(undefined, "views:home"),
    listCounters: () => admin.listCounters(webDb, "views"),
    topCounters: () => admin.topCounters(webDb, "views"),
  });

  test.each(Object.entries(serverCalls(web.counter(webDb, "views:home"))))(
    "is refused by %s of firestore-tally/admin, with what to pass",
    async (_name, call) => {
      const error = await (async () => call())().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "CounterError", code: "counter/invalid-reference" });
      expect((error as Error).message).toContain("pass getFirestore() of firebase-admin/firestore");
    },
  );

  test.each(Object.entries(calls(web, admin.counter(serverDb, "views:home"), writeBatch(webDb))))(
    "is refused by the Firestore SDK in %s of firestore-tally",
    async (_name, call) => {
      await expect((async () => call())()).rejects.toMatchObject({ code: "invalid-argument" });
    },
  );

  test.each(["listCounters", "topCounters"])("a missing group is refused by %s, with what to pass", async (name) => {
    await expect(admin[name](serverDb)).rejects.toMatchObject({
      code: "counter/invalid-option",
      message: expect.stringMatching(/^counter\/invalid-option: group is "undefined"; pass .+"likes"/),
    });
  });
});
