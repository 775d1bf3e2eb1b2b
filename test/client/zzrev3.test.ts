import { createServer } from "node:http";
import { Timestamp } from "firebase-admin/firestore";
import { connectFirestoreEmulator, doc, getDoc, initializeFirestore, memoryLocalCache, memoryLruGarbageCollector, onSnapshot } from "firebase/firestore";
import { initializeApp } from "firebase/app";
const V = process.env.REV ?? "cur";
const { counter, counterStore, getCounter, incrementCounter, onCounter, onIncremented, undoIncrement } = await import(/* @vite-ignore */ `/tmp/rev58/${V}/client/src/web/index.ts`);
import { afterAll, expect, test, vi } from "vitest";
import { admin, adminAt, client, signIn } from "../../testkit/clients.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { until } from "../../testkit/until.ts";
const sleep = (ms: number) => new Promise((r) => setTimeout(r, ms));
const PROJECT = `demo-tally-rev-${process.pid}`;
const { firestore: adminB, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, PROJECT);
afterAll(close);
let n = 0;
function lru(project = PROJECT) {
  const app = initializeApp({ projectId: project, apiKey: "any" }, `lru-${n++}`);
  const db = initializeFirestore(app, { localCache: memoryLocalCache({ garbageCollector: memoryLruGarbageCollector() }) });
  const [name, port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
  connectFirestoreEmulator(db, name as string, Number(port));
  return { app, db, close: async () => {} } as any;
}
const out = (...a: unknown[]) => console.log("PROBE", process.env.REV, ...a.map((x) => (typeof x === "string" ? x : JSON.stringify(x))));

test("P1 flapping", async () => {
  await adminB.doc("counters/open:a").set({ group: "open", total: 40, shardCount: 1, asOf: Timestamp.now() });
  await loadRules(PROJECT, OPEN_RULES);
  const one = lru();
  const ref = counter(one.db, "open:a");
  const t0 = performance.now();
  const log: string[] = [];
  const at = () => ((performance.now() - t0) / 1000).toFixed(1);
  const end = onCounter(ref, { next: (s) => log.push(`${at()} next ${s.total} cache=${s.fromCache}`), error: (e) => log.push(`${at()} error ${e.code}`) });
  await until(() => log.length > 0, "first");
  await loadRules(PROJECT, withPolicy(OPEN_RULES, "function mayReadCounter() { return false; }"));
  await signIn(one, "ada-x");
  await sleep(9000);
  out("P1", log);
  end();
});

test("P2 second onCounter offline with a pending direct increment", async () => {
  const one = lru("demo-x");
  const c = client();
  const ref = counter(c.db, `opened:p2-${process.pid}`);
  await incrementCounter(ref);
  const a: any[] = [], b: any[] = [];
  const stopA = onCounter(ref, (s) => a.push([s.total, s.pending]));
  await until(() => a.length > 0, "first");
  await goOffline(c.db);
  incrementCounter(ref).catch(() => {});
  await until(() => a.at(-1)[0] === 2, "own");
  const stopB = onCounter(ref, (s) => b.push([s.total, s.pending, s.fromCache]));
  await sleep(1500);
  out("P2 first", a, "second watch while first lives", b);
  stopA(); stopB();
  const d: any[] = [];
  const stopC = onCounter(ref, (s) => d.push([s.total, s.pending, s.fromCache]));
  await sleep(1500);
  out("P2 third watch alone", d);
  await goOnline(c.db);
  await sleep(1500);
  out("P2 online", d);
  stopC();
  await c.close();
});

test("P3 increment made while no view, shown to the next user", async () => {
  const id = `views:p3-${process.pid}`;
  await admin.doc(`counters/${id}`).set({ group: "views", total: 0, shardCount: 1, asOf: Timestamp.now() });
  const one = client();
  await signIn(one, "ada-p3");
  const ref = counter(one.db, id);
  const stop = onCounter(ref, () => {});
  await sleep(1000);
  stop();
  await sleep(31_000);
  await goOffline(one.db);
  incrementCounter(ref).catch(() => {});
  await sleep(500);
  await signIn(one, "bob-p3");
  await goOnline(one.db);
  const seen: any[] = [];
  const stop2 = onCounter(ref, (s) => seen.push([s.total, s.pending, s.fromCache]));
  await sleep(4000);
  out("P3 bob sees (server has 0)", seen);
  stop2();
  await one.close();
});

test("P6 via beside a listener, and via with initialTotal", async () => {
  const one = client();
  const id = `store:p6-${process.pid}`;
  const ref = counter(one.db, id);
  const asOf = Timestamp.fromMillis(Date.now()); const exact = new Timestamp(asOf.seconds, asOf.nanoseconds + 345_000);
  await admin.doc(ref.path).set({ group: "store", total: 40, shardCount: 1, asOf: exact });
  const server = createServer((_q, r) => { r.setHeader("cache-control", "public, max-age=1"); r.end(JSON.stringify({ totals: { [id]: { total: 40, asOf: asOf.toMillis() } } })); });
  await new Promise<void>((r) => server.listen(0, r));
  const via = `http://localhost:${(server.address() as any).port}/`;
  const l: any[] = [], h: any[] = [], st: any[] = [];
  const s1 = onCounter(ref, (s) => l.push(s.total));
  await until(() => l.length > 0, "l");
  const s2 = onCounter(ref, (s) => h.push(s.total), { via });
  await sleep(3500);
  out("P6 listener", l, "via", h);
  s1(); s2();
  const ref7 = counter(one.db, id, { collection: "counters" });
  const two = client();
  const refTwo = counter(two.db, id);
  const version = exact.seconds * 1e6 + exact.nanoseconds / 1e3;
  const s3 = counterStore(refTwo, { via, initialTotal: { total: 40, version } }).subscribe((s) => st.push(s));
  await sleep(2500);
  out("P6 store with via and initial of the same publish", st);
  s3(); server.close();
  await one.close(); await two.close();
});

test("P4 P5", async () => {
  const one = client();
  const ref = counter(one.db, `store:p4b-${process.pid}`);
  const ref5 = counter(one.db, `store:p5b-${process.pid}`);
  const ref6 = counter(one.db, `store:p6b-${process.pid}`);
  for (const r of [ref, ref5, ref6]) await admin.doc(r.path).set({ group: "store", total: 40, shardCount: 1, asOf: new Date(40_000) });
  const keeps = [ref, ref5, ref6].map((r) => onSnapshot(doc(one.db, r.path), () => {}));
  for (const r of [ref, ref5, ref6]) out("cached", (await getCounter(r)).total);
  await goOffline(one.db);
  for (const r of [ref, ref5, ref6]) out("cached offline", (await getCounter(r)).total);
  const told: any[] = [], told5: any[] = [], seen: any[] = [], seen6: any[] = [];
  const ends = [
    counterStore(ref, { optimistic: false, initialTotal: { total: 100, version: 100_000_000 } }).subscribe((s) => told.push([s.total, s.fromCache])),
    counterStore(ref5, { initialTotal: 100 }).subscribe((s) => told5.push([s.total, s.fromCache])),
    onCounter(ref5, (s) => seen.push([s.total, s.fromCache])),
    onCounter(ref6, (s) => seen6.push([s.total, s.fromCache])),
  ];
  await sleep(4000);
  out("P4 optimistic:false, initial 100, cache 40", told);
  out("P5 store", told5, "onCounter beside it", seen, "onCounter without a store", seen6);
  for (const e of [...ends, ...keeps]) e();
  await goOnline(one.db);
  await one.close();
});
test("P8", async () => {
  await adminB.doc("counters/open:a").set({ group: "open", total: 40, shardCount: 1, asOf: Timestamp.now() });
  await loadRules(PROJECT, withPolicy(OPEN_RULES, "function mayReadCounter() { return false; }"));
  const one = client(undefined, PROJECT);
  const ref = counter(one.db, "open:a");
  const log: any[] = []; const t0 = performance.now(); const at = () => ((performance.now() - t0) / 1000).toFixed(1);
  const onErr = (e: any) => log.push(`${at()} uncaught ${e?.message}`);
  process.on("uncaughtException", onErr);
  const stop = onCounter(ref, { next: (s) => log.push(`${at()} next ${s.total}`), error: () => { log.push(`${at()} error`); throw new Error("observer throws"); } });
  await sleep(2500);
  await loadRules(PROJECT, OPEN_RULES);
  log.push(`${at()} opened`);
  await sleep(6000);
  out("P8", log);
  stop();
  process.off("uncaughtException", onErr);
  await one.close();
});
test("P10 perf", async () => {
  const one = client();
  const ref = counter(one.db, `views:p10-${process.pid}`);
  await admin.doc(ref.path).set({ group: "views", total: 0, shardCount: 1, asOf: Timestamp.now() });
  const stop = onCounter(ref, () => {});
  await sleep(1000);
  await goOffline(one.db);
  for (let i = 0; i < 6; i++) {
    const t = performance.now(); const c = process.cpuUsage();
    for (let k = 0; k < 100; k++) { incrementCounter(ref).catch(() => {}); await new Promise((r) => setTimeout(r, 5)); }
    await sleep(20);
    const u = process.cpuUsage(c);
    out("P10", (i + 1) * 100, "wall ms per increment", ((performance.now() - t) / 100).toFixed(1), "cpu ms per increment", ((u.user + u.system) / 1e5).toFixed(1));
  }
  stop();
  await sleep(10);
}, 200_000);

test("P11 store flapping and console", async () => {
  await loadRules(PROJECT, OPEN_RULES);
  await adminB.doc("counters/likes:a").set({ group: "likes", total: 40, shardCount: 1, asOf: Timestamp.now() });
  const one = lru();
  await signIn(one, "ada-y");
  const ref = counter(one.db, "likes:a");
  await incrementCounter(ref, 1, { once: "ada-y" });
  const log: string[] = [];
  const t0 = performance.now(); const at = () => ((performance.now() - t0) / 1000).toFixed(1);
  const end = onIncremented(ref, "ada-y", { next: (l: boolean) => log.push(`${at()} ${l}`), error: (e: any) => log.push(`${at()} ${e.code}`) });
  await until(() => log.length > 0, "first");
  await signIn(one, "bob-y");
  await sleep(5000);
  out("P11 onIncremented of the user before, with LRU cache", log);
  end();
});
test("P12 list then page: newer initial while an own increment is acked", async () => {
  const one = client();
  const id = `store:p12-${process.pid}`;
  const ref = counter(one.db, id);
  const t = Date.now();
  await admin.doc(ref.path).set({ group: "store", total: 10, shardCount: 1, asOf: Timestamp.fromMillis(t) });
  const stop = onCounter(ref, () => {});
  await sleep(800);
  const inc = incrementCounter(ref);
  stop();
  await inc;
  await sleep(300);
  await admin.doc(ref.path).update({ total: 11, asOf: Timestamp.fromMillis(Date.now() + 1000) });
  const a = (await admin.doc(ref.path).get()).get("asOf");
  const told: any[] = [];
  const s = counterStore(ref, { initialTotal: { total: 11, version: a.seconds * 1e6 + a.nanoseconds / 1e3 } }).subscribe((x: any) => told.push([x.total, x.pending, x.fromCache]));
  await sleep(1500);
  out("P12 server-rendered 11 has it; shown", told);
  s(); await one.close();
});
