/** A Node process that uses counters, closes all that it has opened, says so, and does not call `process.exit`. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { deleteApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, type Firestore, getFirestore, terminate } from "firebase/firestore";
import { initializeApp as initializeServer } from "firebase-admin/app";
import { getFirestore as getServerFirestore } from "firebase-admin/firestore";
import {
  bufferedCounter,
  connectRegions,
  counter,
  globalCounter,
  incrementCounter,
  incrementGlobalCounter,
  onCounter,
  onGlobalCounter,
} from "firestore-tally";
import * as server from "firestore-tally/admin";
import { beacon } from "firestore-tally/beacon";
import { cuttingProxy, delayingProxy } from "../../../testkit/tcpProxy.ts";
import { until } from "../../../testkit/until.ts";

const { GCLOUD_PROJECT: projectId = "", FIRESTORE_EMULATOR_HOST = "" } = process.env;
const [, , what = "", id = ""] = process.argv;

/** Watches until a total of at least 1. */
async function watchUntilCounted(
  watch: (next: (snapshot: { readonly total: number }) => void) => () => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = watch(({ total }) => total > 0 && resolve());
  await promise;
  stop();
}

async function withWebClient(use: (db: Firestore) => Promise<void>, host = FIRESTORE_EMULATOR_HOST): Promise<void> {
  const app = initializeApp({ projectId, apiKey: "any" }, host);
  const db = getFirestore(app);
  const [name = "", port] = host.split(":");
  connectFirestoreEmulator(db, name, Number(port));
  await use(db);
  await terminate(db);
  await deleteApp(app);
}

const uses: Readonly<Record<string, () => Promise<void>>> = {
  "a watch": () =>
    withWebClient(async (db) => {
      const views = counter(db, id);
      const counted = watchUntilCounted((next) => onCounter(views, next));
      await incrementCounter(views);
      await counted;
    }),
  "increments and a buffer": () =>
    withWebClient(async (db) => {
      const buffer = bufferedCounter(counter(db, id), { flushInterval: 3_600_000 });
      buffer.increment();
      await buffer.close();
      await incrementCounter(counter(db, id));
    }),
  "a beacon": async () => {
    const server = createServer((_, response) => response.end('{"at": 1}')).listen(0);
    await once(server, "listening");
    const site = beacon(`http://localhost:${(server.address() as AddressInfo).port}`, { flushInterval: 3_600_000 });
    site.count(id);
    await site.close();
    server.close();
  },
  "a watch of regions": () =>
    withWebClient(async (db) => {
      const views = globalCounter(connectRegions({ here: db }), id);
      const counted = watchUntilCounted((next) => onGlobalCounter(views, next));
      await incrementGlobalCounter(views);
      await counted;
    }),
  "an increment in regions": () =>
    withWebClient(async (db) => {
      await incrementGlobalCounter(globalCounter(connectRegions({ here: db }, { timeout: 30_000 }), id));
    }),
  "a region that did not answer": async () => {
    const network = await cuttingProxy(FIRESTORE_EMULATOR_HOST);
    const slow = await delayingProxy(FIRESTORE_EMULATOR_HOST, 200);
    const use = async (near: Firestore, far: Firestore) => {
      const regions = connectRegions({ near, far }, { timeout: 500 });
      const views = globalCounter(regions, id);
      await incrementGlobalCounter(views);
      network.withhold();
      const waiting = incrementGlobalCounter(views).catch(() => {});
      await until(() => regions.current === "far", "the other region");
      network.cut();
      await waiting;
    };
    await withWebClient((near) => withWebClient((far) => use(near, far), slow.address), network.address);
    await Promise.all([network.close(), slow.close()]);
  },
  "a server": async () => {
    initializeServer({ projectId });
    const db = getServerFirestore();
    const views = server.counter(db, id);
    const counted = watchUntilCounted((next) => server.onCounter(views, next));
    const buffer = server.bufferedCounter(views, { flushInterval: 3_600_000 });
    buffer.increment();
    await buffer.close();
    await counted;
    await db.terminate();
  },
};

await uses[what]?.();
console.log(process.env.SHOW_HELD ? process.getActiveResourcesInfo() : "closed");
