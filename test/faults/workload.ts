/**
 * Increments of every kind at the same time, with a ledger of the acknowledged ones. Under any fault, each acknowledged
 * increment must be in the total once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, incrementCounter, undoIncrement } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { adminAt, client, signIn } from "../../testkit/clients.ts";
import type { FaultEnvironment } from "./environment.ts";

/** Increments per second, by kind. */
const RATES = {
  /**
   * Each web client has its own counter. The rules recognize a replay after a cut by its mark, for two minutes
   * (docs/data-model.md), so no other client writes this shard where connections are cut.
   */
  plain: 10,
  /** One hot counter. Its clients reach Firestore directly. */
  hot: 20,
  /** Like buttons: each user likes each post once. Some clicks come twice at the same time, some are undone. */
  once: 10,
  /** One process, one counter, up and down. */
  server: 16,
  /** Orders, each reported by two calls at the same time. */
  serverOnce: 4,
};
type Kind = keyof typeof RATES;

/** Web clients whose connections are cut. */
const CLIENTS = 5;

/** What each counter of the servers counts once for. */
const ORDERS = 20;

/** The acknowledged increments of one counter. */
export interface Acknowledged {
  sum: number;
  calls: number;
  /** Whether each increment has `once`. Then the number of entries is the sum, too. */
  readonly countsOnce: boolean;
}

export interface Workload {
  /** By counter. */
  readonly acknowledged: ReadonlyMap<string, Acknowledged>;
  /** Errors of calls. There should be none, since every fault ends. */
  readonly errors: readonly unknown[];
  /** Resolves when the last increment has begun. */
  readonly end: Promise<void>;
  /** Calls that were neither acknowledged nor rejected yet. */
  pending(): number;
  close(): Promise<void>;
}

/** @param name  part of the ids of the workload's counters */
export async function startWorkload(
  { connections }: FaultEnvironment,
  name: string,
  seconds: number,
): Promise<Workload> {
  const clients = Array.from({ length: CLIENTS }, () => client(connections.web.address));
  const users = await Promise.all(clients.map(async (one) => ({ db: one.db, uid: await signIn(one) })));
  const direct = client();
  const admin = adminAt(connections.server.address);

  const acknowledged = new Map<string, Acknowledged>();
  const errors: unknown[] = [];
  let pending = 0;
  const record = (id: string, countsOnce: boolean, by: number, call: Promise<unknown>) => {
    const known = acknowledged.get(id) ?? { sum: 0, calls: 0, countsOnce };
    acknowledged.set(id, known);
    const acknowledge = () => {
      known.sum += by;
      known.calls++;
    };
    pending++;
    call.then(acknowledge, (error) => errors.push(error)).finally(() => pending--);
  };

  const write: Record<Kind, (n: number) => void> = {
    plain(n) {
      const id = `views:${name}-${n % CLIENTS}`;
      record(id, false, 1, incrementCounter(counter(user(n).db, id)));
    },
    hot() {
      const id = `views:${name}-hot`;
      record(id, false, 1, incrementCounter(counter(direct.db, id)));
    },
    once(n) {
      const id = `likes:${name}-${Math.floor(n / CLIENTS)}`;
      const { db, uid } = user(n);
      const ref = counter(db, id);
      const like = () => incrementCounter(ref, 1, { once: uid });
      const unlike = () => retryWhileUnavailable(() => undoIncrement(ref, uid));
      if (n % 5 === 0) record(id, true, 1, Promise.all([like(), like()]));
      else if (n % 7 === 0) record(id, true, 0, like().then(unlike));
      else record(id, true, 1, like());
    },
    server(n) {
      const id = `downloads:${name}`;
      const by = n % 10 === 0 ? -2 : 1;
      record(id, false, by, server.incrementCounter(server.counter(admin.firestore, id), by));
    },
    serverOnce(n) {
      const id = `orders:${name}-${Math.floor(n / ORDERS)}`;
      const ref = server.counter(admin.firestore, id);
      const report = () => server.incrementCounter(ref, 1, { once: `order-${n}` });
      record(id, true, 1, Promise.all([report(), report()]));
    },
  };
  const user = (n: number) => users[n % CLIENTS] as (typeof users)[0];
  const kinds = Object.keys(RATES) as Kind[];
  return {
    acknowledged,
    errors,
    end: Promise.all(kinds.map((kind) => callAtRate(RATES[kind], seconds, write[kind]))).then(),
    pending: () => pending,
    async close() {
      await Promise.all([...clients, direct].map((one) => one.close()));
      await admin.close();
    },
  };
}

async function callAtRate(perSecond: number, seconds: number, call: (n: number) => void): Promise<void> {
  const start = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    const wait = start + (n * 1_000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    call(n);
  }
}

/**
 * Repeats a call that is safe to repeat and fails while the connection is down: an undo, whose read comes first, or a take.
 */
async function retryWhileUnavailable<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if ((error as { code?: string }).code !== "unavailable") throw error;
      await sleep(100);
    }
  }
}
