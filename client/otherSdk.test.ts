/** The built package refuses databases and references that are none, or of another SDK; and options that are passed and undefined. */
import { Firestore as ServerFirestore } from "@google-cloud/firestore";
import { initializeApp } from "firebase/app";
import { doc, getFirestore, terminate, writeBatch } from "firebase/firestore";
import { getFirestore as getLite } from "firebase/firestore/lite";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, describe, expect, test, vi } from "vitest";

/** The functions of an entry, called with any arguments, as from JavaScript. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments are wrong on purpose
type Api = any;

const LIMIT = { name: "a", uid: "ada", limit: 1, per: 1_000, burst: 1 };

describe("a reference or a database of the other SDK", async () => {
  const built = async (entry: string): Promise<Api> => import(new URL(`dist/${entry}.js`, import.meta.url).href);
  const [web, admin, beacon] = [await built("index"), await built("admin"), await built("beacon")];
  const invalidReference = { name: "CounterError", code: "counter/invalid-reference" };
  const webDb = getFirestore(initializeApp({ projectId: "demo-tally-other-sdk" }, "other-sdk"));
  const serverDb = new ServerFirestore({ projectId: "demo-tally-other-sdk" });
  afterAll(() => Promise.all([terminate(webDb), serverDb.terminate()]));

  /** Calls of every function with a reference. */
  const calls = (api: Api, ref: unknown, batch: unknown): Record<string, () => unknown> => ({
    incrementCounter: () => api.incrementCounter(ref),
    "incrementCounter with `once`": () => api.incrementCounter(ref, 1, { once: "ada" }),
    incrementCounterIn: () => api.incrementCounterIn(batch, ref),
    undoIncrement: () => api.undoIncrement(ref, "ada"),
    takeFromCounter: () => api.takeFromCounter(ref, 1, { once: "ada" }),
    getCounter: () => api.getCounter(ref),
    getExactTotal: () => api.getExactTotal(ref),
    onCounter: () => api.onCounter(ref, () => {}),
    getIncremented: () => api.getIncremented(ref, "ada"),
    onIncremented: () => api.onIncremented(ref, "ada", () => {}),
    getCounterHistory: () => api.getCounterHistory(ref, { from: new Date(0), to: new Date(1), step: "hour" }),
    getCounterRank: () => api.getCounterRank(ref),
  });
  const serverCalls = (ref: unknown): Record<string, () => unknown> => ({
    ...calls(admin, ref, serverDb.batch()),
    ensureCounter: () => admin.ensureCounter(ref),
    "ensureCounter with shards": () => admin.ensureCounter(ref, { shards: 10 }),
    resetCounter: () => admin.resetCounter(ref, 0),
    setCounterSource: () => admin.setCounterSource(ref, { entries: true }),
    reconcileCounter: () => admin.reconcileCounter(ref, { source: { entries: true } }),
    publishCounter: () => admin.publishCounter(ref),
    forgetVisitors: () => admin.forgetVisitors(ref),
    deleteCounter: () => admin.deleteCounter(ref),
    counter: () => admin.counter(webDb, "views:home"),
    "counter without a database": () => admin.counter(undefined, "views:home"),
    listCounters: () => admin.listCounters(webDb, "views"),
    getTopCounters: () => admin.getTopCounters(webDb, "views"),
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
    "is refused by %s of firestore-tally",
    async (_name, call) => {
      await expect((async () => call())()).rejects.toMatchObject(invalidReference);
    },
  );

  const liteDb = getLite(initializeApp({ projectId: "demo-tally-lite" }, "lite"));
  /** What is no database, by its name. */
  const databases: Record<string, unknown> = {
    undefined,
    null: null,
    "a string": "demo-tally",
    "an object": {},
    "firebase/firestore/lite": liteDb,
    "a document of the server": serverDb.doc("a/b"),
    "a collection of the server": serverDb.collection("a"),
  };
  const [web1, server1] = [
    { ...databases, "the server's": serverDb },
    { ...databases, "the web's": webDb },
  ];
  test.each(Object.entries(web1))("%s is no database for firestore-tally", async (_name, db) => {
    for (const call of [
      () => web.counter(db, "views:home"),
      () => web.getTopCounters(db, "views"),
      () => web.globalCounter(web.connectRegions({ us: db }), "views:home"),
    ]) {
      const error = await (async () => call())().catch((reason: unknown) => reason);
      expect(error).toMatchObject(invalidReference);
      expect((error as Error).message).toContain("getFirestore() of firebase/firestore; /lite has no listeners");
    }
  });
  test.each(Object.entries(server1))("%s is no database for firestore-tally/admin", async (_name, db) => {
    for (const call of [
      () => admin.counter(db, "views:home"),
      () => admin.getTopCounters(db, "views"),
      () => admin.listCounters(db, "views"),
      () => admin.rateLimiter(db, "api", { limit: 1, per: 1_000 }),
    ]) {
      await expect((async () => call())()).rejects.toMatchObject(invalidReference);
    }
  });

  /** Functions of the web alone. */
  const webCalls = (ref: unknown): Record<string, () => unknown> => ({
    ...calls(web, ref, writeBatch(webDb)),
    prepareIncrement: () => web.prepareIncrement(ref),
    incrementCounterWithRateLimit: () => web.incrementCounterWithRateLimit(ref, LIMIT),
    withRateLimit: () => web.withRateLimit(ref, LIMIT, () => {}),
    countVisitor: () => web.countVisitor(ref, "ada"),
    getUniques: () => web.getUniques([ref]),
    getTopItems: () => web.getTopItems(ref),
    bufferedCounter: () => web.bufferedCounter(ref),
    counterStore: () => web.counterStore(ref).subscribe(() => {}),
  });
  const references: [name: string, ref: unknown][] = [
    ["a string", "views:home"],
    ["undefined", undefined],
    ["null", null],
    ["an object", {}],
  ];
  test.each(references)("%s is no reference for any function of firestore-tally", async (_name, ref) => {
    for (const [name, call] of Object.entries(webCalls(ref))) {
      await expect((async () => call())(), name).rejects.toMatchObject(invalidReference);
    }
  });
  test.each(references)("%s is no reference for the functions of all regions", async (_name, ref) => {
    for (const call of [
      () => web.globalCounter(ref, "views:home"),
      () => web.incrementGlobalCounter(ref),
      () => web.onGlobalCounter(ref, () => {}),
      () => web.regionalCounter(ref, "us"),
    ]) {
      await expect((async () => call())()).rejects.toMatchObject(invalidReference);
    }
  });
  test("nor is a document, for a function that counts", async () => {
    const { withRateLimit, getUniques, getTopItems, ...others } = webCalls(doc(webDb, "counters/views:home"));
    for (const [name, call] of Object.entries(others)) {
      await expect((async () => call())(), name).rejects.toMatchObject(invalidReference);
    }
  });
  test.each([...references, ["a document", serverDb.doc("counters/views:home")] as const])(
    "%s is no reference for any function of firestore-tally/admin",
    async (_name, ref) => {
      const { counter, listCounters, getTopCounters, ...others } = serverCalls(ref);
      delete others["counter without a database"];
      const all = {
        ...others,
        countVisitor: () => admin.countVisitor(ref, "ada"),
        getUniques: () => admin.getUniques([ref]),
        getTopItems: () => admin.getTopItems(ref),
        bufferedCounter: () => admin.bufferedCounter(ref),
      };
      for (const [name, call] of Object.entries(all)) {
        await expect((async () => call())(), name).rejects.toMatchObject(invalidReference);
      }
    },
  );

  /** Calls with an option or an argument that is passed, by its name; and the end of the code. */
  type Options = Record<string, [call: (value: unknown) => unknown, code: string]>;
  const [ref, serverRef] = [web.counter(webDb, "views:home"), admin.counter(serverDb, "views:home")];
  const inBoth = (api: Api, ref: unknown, db: unknown, batch: unknown): Options => ({
    "counter collection": [(collection) => api.counter(db, "views:home", { collection }), "collection"],
    "getTopCounters collection": [(collection) => api.getTopCounters(db, "views", { collection }), "collection"],
    "incrementCounter by": [(by) => api.incrementCounter(ref, by), "amount"],
    "incrementCounter by, with `once`": [(by) => api.incrementCounter(ref, by, { once: "ada" }), "amount"],
    "incrementCounter once": [(once) => api.incrementCounter(ref, 1, { once }), "once"],
    "incrementCounterIn by": [(by) => api.incrementCounterIn(batch, ref, by), "amount"],
    "incrementCounterIn once": [(once) => api.incrementCounterIn(batch, ref, 1, { once }), "once"],
    "undoIncrement once": [(once) => api.undoIncrement(ref, once), "once"],
    "takeFromCounter units": [(units) => api.takeFromCounter(ref, units, { once: "ada" }), "amount"],
    "takeFromCounter once": [(once) => api.takeFromCounter(ref, 1, { once }), "once"],
    "bufferedCounter by": [(by) => api.bufferedCounter(ref).increment(by), "amount"],
    "countVisitor visitor": [(visitor) => api.countVisitor(ref, visitor), "visitor"],
  });
  const options: Record<string, Options> = {
    web: {
      ...inBoth(web, ref, webDb, writeBatch(webDb)),
      "takeFromCounter options": [() => web.takeFromCounter(ref, 1), "once"],
      "prepareIncrement by": [(by) => web.prepareIncrement(ref, by), "amount"],
      "prepareIncrement once": [(once) => web.prepareIncrement(ref, 1, { once }), "once"],
      "incrementCounterWithRateLimit by": [(by) => web.incrementCounterWithRateLimit(ref, LIMIT, by), "amount"],
      "incrementCounterWithRateLimit once": [
        (once) => web.incrementCounterWithRateLimit(ref, LIMIT, 1, { once }),
        "once",
      ],
      "incrementCounterWithRateLimit uid": [
        (uid) => web.incrementCounterWithRateLimit(ref, { ...LIMIT, uid }),
        "option",
      ],
      "incrementCounterWithRateLimit limit": [(other) => web.incrementCounterWithRateLimit(ref, other), "option"],
      "withRateLimit uid": [(uid) => web.withRateLimit(doc(webDb, "a/b"), { ...LIMIT, uid }, () => {}), "option"],
      "bufferedCounter by, via ingest": [
        (by) => web.bufferedCounter(ref, { via: "http://127.0.0.1:9" }).increment(by),
        "amount",
      ],
      "incrementGlobalCounter by": [
        (by) => web.incrementGlobalCounter(web.globalCounter(web.connectRegions({ us: webDb }), "views:home"), by),
        "amount",
      ],
    },
    admin: {
      ...inBoth(admin, serverRef, serverDb, serverDb.batch()),
      "listCounters collection": [(collection) => admin.listCounters(serverDb, "views", { collection }), "collection"],
      "ensureCounter initial": [(initial) => admin.ensureCounter(serverRef, { initial }), "amount"],
      "ensureCounter bounded": [(bounded) => admin.ensureCounter(serverRef, { bounded }), "option"],
      "resetCounter to": [(to) => admin.resetCounter(serverRef, to), "amount"],
      "reconcileCounter source": [(source) => admin.reconcileCounter(serverRef, { source }), "source"],
      "reconcileCounter dryRun": [
        (dryRun) => admin.reconcileCounter(serverRef, { source: { entries: true }, dryRun }),
        "option",
      ],
      "setCounterSource where": [
        (where) => admin.setCounterSource(serverRef, { collection: "posts", where }),
        "source",
      ],
      "setCounterSource sum": [(sum) => admin.setCounterSource(serverRef, { collection: "posts", sum }), "source"],
      "rateLimiter key": [(key) => admin.rateLimiter(serverDb, "a", { limit: 1, per: 1_000 }).take(key), "key"],
      "rateLimiter n": [(n) => admin.rateLimiter(serverDb, "a", { limit: 1, per: 1_000 }).take("ada", n), "amount"],
    },
    beacon: {
      "count counter": [(counter) => beacon.beacon("http://127.0.0.1:9").count(counter), "id"],
      "count by": [(by) => beacon.beacon("http://127.0.0.1:9").count("views:home", by), "amount"],
    },
  };
  describe.each(Object.entries(options))("an option of %s that is passed, and is no value, is refused", (_, calls) => {
    test.each(Object.entries(calls))("%s", async (_name, [call, code]) => {
      for (const value of [undefined, null, Number.NaN, ""]) {
        const outcome = (async () => call(value))();
        await expect(outcome, String(value)).rejects.toMatchObject({ code: `counter/invalid-${code}` });
      }
    });
  });

  test("useCounter passes on what its increment is called with: a missing amount or `once` is refused, too", async () => {
    const { useCounter } = await built("react");
    const reads = vi.fn();
    // Nothing reads a reference before the arguments are checked.
    const watched = new Proxy(ref, { get: (...given) => reads() ?? Reflect.get(...given) });
    let increment: Api;
    const show = () => {
      increment = useCounter(watched).increment;
      return null;
    };
    renderToString(createElement(show));
    reads.mockReset();
    for (const given of [[undefined], [1, { once: undefined }]]) await increment(...given);
    expect(reads).not.toHaveBeenCalled();
    void increment();
    expect(reads).toHaveBeenCalled();
  });

  test.each([
    ["listCounters of firestore-tally/admin", (group?: unknown) => admin.listCounters(serverDb, group)],
    ["getTopCounters of firestore-tally/admin", (group?: unknown) => admin.getTopCounters(serverDb, group)],
    ["getTopCounters of firestore-tally", (group?: unknown) => web.getTopCounters(webDb, group)],
  ])("a missing group, and an id in place of a group, are refused by %s, with what to pass", async (_name, call) => {
    for (const group of [undefined, null, 5, "likes:acme", ":"]) {
      await expect(call(group)).rejects.toMatchObject({
        code: "counter/invalid-option",
        message: expect.stringMatching(/^counter\/invalid-option: group is ".+"; pass .+"likes"/),
      });
    }
  });
});
