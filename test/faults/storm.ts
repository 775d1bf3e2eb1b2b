/**
 * Traffic of every kind at once, and a ledger of what its writers were told. Whatever breaks meanwhile, each increment
 * that was acknowledged must be in the total once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, incrementCounter, undoIncrement } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { adminAt, client, signIn } from "../../testkit/clients.ts";
import type { Rig } from "./rig.ts";

/** Increments per second, by kind. */
const RATES = {
  /**
   * Each web client has a counter of its own. The rules recognize a replay after a cut by its mark, which others may
   * overwrite; so where connections are cut, a hot counter is not promised to be exact (docs/data-model.md).
   */
  plain: 10,
  /** One hot counter. Its clients reach Firestore directly. */
  hot: 20,
  /** Like buttons: each user presses each once. Some presses come twice at the same time, some are taken back. */
  keyed: 10,
  /** One process, one counter, up and down. */
  server: 16,
  /** Orders, each reported by two calls at the same time. */
  serverKeyed: 4,
};
type Kind = keyof typeof RATES;

/** Web clients whose connections are cut. */
const CLIENTS = 5;

/** Keys of each keyed counter of the servers. */
const ORDERS = 20;

/** What the writers of one counter know. */
export interface Account {
  /** The sum of what was acknowledged. */
  sum: number;
  /** Calls that were acknowledged. */
  acknowledged: number;
  /** Whether each increment has a key, so that its entries tell the total, too. */
  readonly keyed: boolean;
}

export interface Storm {
  /** By counter. */
  readonly ledger: ReadonlyMap<string, Account>;
  /** What failed: nothing should, since faults end. */
  readonly errors: readonly unknown[];
  /** Resolves when the last increment has begun. */
  readonly over: Promise<void>;
  /** Calls that have neither been acknowledged nor failed. */
  underWay(): number;
  close(): Promise<void>;
}

/** Starts it. @param name  goes into the ids of its counters */
export async function startStorm({ connections }: Rig, name: string, seconds: number): Promise<Storm> {
  const clients = Array.from({ length: CLIENTS }, () => client(connections.web.address));
  const users = await Promise.all(clients.map(async (one) => ({ db: one.db, uid: await signIn(one) })));
  const direct = client();
  const admin = adminAt(connections.server.address);

  const ledger = new Map<string, Account>();
  const errors: unknown[] = [];
  let underWay = 0;
  const enter = (id: string, keyed: boolean, by: number, call: Promise<unknown>) => {
    const account = ledger.get(id) ?? { sum: 0, acknowledged: 0, keyed };
    ledger.set(id, account);
    const acknowledged = () => {
      account.sum += by;
      account.acknowledged++;
    };
    underWay++;
    call.then(acknowledged, (error) => errors.push(error)).finally(() => underWay--);
  };

  const write: Record<Kind, (n: number) => void> = {
    plain(n) {
      const id = `views:${name}-${n % CLIENTS}`;
      enter(id, false, 1, incrementCounter(counter(user(n).db, id)));
    },
    hot() {
      const id = `views:${name}-hot`;
      enter(id, false, 1, incrementCounter(counter(direct.db, id)));
    },
    keyed(n) {
      const id = `likes:${name}-${Math.floor(n / CLIENTS)}`;
      const { db, uid } = user(n);
      const ref = counter(db, id);
      const press = () => incrementCounter(ref, 1, { key: uid });
      if (n % 5 === 0) enter(id, true, 1, Promise.all([press(), press()]));
      else if (n % 7 === 0)
        enter(
          id,
          true,
          0,
          press().then(() => persist(() => undoIncrement(ref, uid))),
        );
      else enter(id, true, 1, press());
    },
    server(n) {
      const id = `downloads:${name}`;
      const by = n % 10 === 0 ? -2 : 1;
      enter(id, false, by, server.incrementCounter(server.counter(admin.firestore, id), by));
    },
    serverKeyed(n) {
      const id = `orders:${name}-${Math.floor(n / ORDERS)}`;
      const ref = server.counter(admin.firestore, id);
      const report = () => server.incrementCounter(ref, 1, { key: `order-${n}` });
      enter(id, true, 1, Promise.all([report(), report()]));
    },
  };
  const user = (n: number) => users[n % CLIENTS] as (typeof users)[0];
  return {
    ledger,
    errors,
    over: Promise.all((Object.keys(RATES) as Kind[]).map((kind) => rain(RATES[kind], seconds, write[kind]))).then(),
    underWay: () => underWay,
    async close() {
      await Promise.all([...clients, direct].map((one) => one.close()));
      await admin.close();
    },
  };
}

async function rain(perSecond: number, seconds: number, write: (n: number) => void): Promise<void> {
  const start = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    const wait = start + (n * 1_000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    write(n);
  }
}

/** An undo reads first, which fails while the connection is down. Nothing has happened then, so it is tried again. */
async function persist(undo: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await undo();
    } catch (error) {
      if ((error as { code?: string }).code !== "unavailable") throw error;
      await sleep(100);
    }
  }
}
