/** Web clients, servers and operators. They run the packages' real code; old apps and apps without the package write as their SDKs do. Each may die at any time. */

import type { Firestore as RealWebFirestore } from "firebase/firestore";
import type { Firestore as RealAdminFirestore } from "firebase-admin/firestore";
import { counter as adminCounter } from "../../admin/src/counter.ts";
import { deleteCounter } from "../../admin/src/delete.ts";
import { type EnsureOptions, ensureCounter } from "../../admin/src/ensure.ts";
import { giveBack } from "../../admin/src/giveBack.ts";
import { commitTogether, receiptOf } from "../../admin/src/groupCommit.ts";
import * as admin from "../../admin/src/increment.ts";
import { moveLegacyIncrements } from "../../admin/src/moveLegacyIncrements.ts";
import { reconcileCounter } from "../../admin/src/reconcile.ts";
import { resetCounter } from "../../admin/src/reset.ts";
import { setSource } from "../../admin/src/source.ts";
import { takeFromCounter as takeOnServer } from "../../admin/src/stock.ts";
import { countVisitor as countVisitorOnServer } from "../../admin/src/visitors.ts";
import { counter as webCounter } from "../../client/src/web/counter.ts";
import * as web from "../../client/src/web/increment.ts";
import { takeFromCounter } from "../../client/src/web/stock.ts";
import { countVisitor } from "../../client/src/web/visitors.ts";
import { foldLegacyShards, movePartialShard } from "./googleExtension.ts";
import { Firestore as AdminFirestore, FieldValue } from "./model/adminSdk.ts";
import { Code, type Refused } from "./model/database.ts";
import { Connection, type Network } from "./model/network.ts";
import { Firestore as WebFirestore } from "./model/webSdk.ts";
import type { Oracle } from "./oracle/oracle.ts";
import { type Action, BRIDGED, ORDERS, POSTS, SEARCHED, STOCK, VISITED } from "./scenario.ts";
import { Process } from "./scheduler.ts";

/** Whether the connection failed and not the call. */
function isTransient({ code }: Refused): boolean {
  return code === Code.DEADLINE_EXCEEDED || code === Code.UNAVAILABLE || code === Code.ABORTED;
}

/** As long as an instance of ingest repeats a commit, in milliseconds. */
const INGEST_TIMEOUT = 20_000;

/** How long shards are reserved, in milliseconds. Most reservations outlast the traffic, and end while there are faults. */
const RESERVED_FOR = 300_000;

interface Caller<Firestore> {
  readonly process: Process;
  readonly firestore: Firestore;
  /** Resolves when all calls with a key so far have returned. */
  lastCall: Promise<void>;
}

export class Callers {
  readonly #network: Network;
  readonly #oracle: Oracle;
  readonly #seed: number;
  readonly #clients = new Map<number, Caller<RealWebFirestore>>();
  readonly #servers = new Map<number, Caller<RealAdminFirestore>>();
  /** Operators whose call has not returned. */
  readonly #waiting = new Set<Process>();
  /** Resolves once the bounded counter exists. */
  #sale: Promise<void> | undefined;
  /** How many processes of each name were started. */
  readonly #started = new Map<string, number>();

  constructor(network: Network, oracle: Oracle, seed: number) {
    this.#network = network;
    this.#oracle = oracle;
    this.#seed = seed;
  }

  act(action: Action): void {
    const { scheduler } = this.#network;
    switch (action.does) {
      case "increment": {
        const { process, firestore } = this.#client(action.client);
        const acknowledge = this.#oracle.increments.begin(process, action.counter, action.by);
        web.incrementCounter(webCounter(firestore, action.counter), action.by).then(acknowledge, () => {
          this.#oracle.increments.rejected(process, action.counter, action.by);
          acknowledge();
        });
        break;
      }
      case "like":
      case "unlike": {
        const caller = this.#client(action.client);
        const ref = webCounter(caller.firestore, action.counter);
        const isLike = action.does === "like";
        const call = () =>
          isLike ? web.incrementCounter(ref, 1, { key: action.key }) : web.undoIncrement(ref, action.key);
        this.#keyed(caller, action.counter, action.key, isLike, call);
        break;
      }
      case "visit": {
        const { process, firestore } = this.#client(action.client);
        const { visitor, by } = action;
        const isView = by !== undefined;
        const acknowledge = isView ? this.#oracle.increments.begin(process, VISITED, by) : () => {};
        const isCounted = this.#oracle.visitors.begin(visitor);
        const call = countVisitor(webCounter(firestore, VISITED), visitor, { increment: by });
        call.then(isCounted, () => {});
        call.then(acknowledge, () => {
          if (isView) this.#oracle.increments.rejected(process, VISITED, by);
          acknowledge();
        });
        break;
      }
      case "visitServer": {
        const { process, firestore } = this.#server(action.server);
        const isCounted = this.#oracle.visitors.begin(action.visitor);
        countVisitorOnServer(adminCounter(firestore, VISITED), action.visitor).then(isCounted, (error) =>
          this.#oracle.fail("completion", `${process.name} gives up: ${error}`),
        );
        break;
      }
      case "resetVisitors": {
        const { process, firestore } = this.#startServer("reset");
        this.#oracle.setIntent(process, { kind: "reset", to: 0, since: scheduler.now });
        this.#operate(process, resetCounter(adminCounter(firestore, VISITED), 0, { visitors: true }), () =>
          this.#oracle.checkResetDone(process),
        );
        break;
      }
      case "search": {
        const { process, firestore } = this.#startServer("ingest");
        this.#oracle.setIntent(process, { kind: "anything" });
        const ref = adminCounter(firestore, SEARCHED);
        const units = action.events.map((event) => ({
          receipt: receiptOf(ref, event),
          counts: [event, "all", `group ${event.length}`].map((key) => ({ counter: ref, by: 1, key })),
        }));
        const isCounted = this.#oracle.topKeys.begin(action.events);
        commitTogether(units, Date.now() + INGEST_TIMEOUT).then(isCounted, () => {});
        if (action.diesAfter !== undefined) {
          scheduler.after(action.diesAfter, () => {
            process.isDead = true;
          });
        }
        break;
      }
      case "resetKeys": {
        const { process, firestore } = this.#startServer("reset");
        this.#oracle.setIntent(process, { kind: "reset", to: 0, since: scheduler.now });
        this.#operate(process, resetCounter(adminCounter(firestore, SEARCHED), 0, { keys: true }), () =>
          this.#oracle.checkResetDone(process),
        );
        break;
      }
      case "add": {
        const { process, firestore } = this.#server(action.server);
        const acknowledge = this.#oracle.increments.begin(process, action.counter, action.by);
        // Every simulated failure is transient, so this call must not fail.
        admin
          .incrementCounter(adminCounter(firestore, action.counter), action.by)
          .then(acknowledge, (error) => this.#oracle.fail("completion", `${process.name} gives up: ${error}`));
        break;
      }
      case "addOnce":
      case "undoOnce": {
        const caller = this.#server(action.server);
        const ref = adminCounter(caller.firestore, action.counter);
        this.#keyed(caller, action.counter, action.key, action.does === "addOnce", () =>
          action.does === "addOnce"
            ? admin.incrementCounter(ref, 1, { key: action.key })
            : admin.undoIncrement(ref, action.key),
        );
        break;
      }
      case "openSale":
        this.#sale = this.#ensure(STOCK, {
          initial: action.units,
          bounded: true,
          shards: action.shards,
          holdFor: RESERVED_FOR,
        });
        break;
      case "take": {
        const caller = this.#client(action.client);
        const ref = webCounter(caller.firestore, STOCK);
        const { key, units } = action;
        this.#take(caller, key, units, () => takeFromCounter(ref, units, { key }));
        break;
      }
      case "undoTake": {
        const caller = this.#client(action.client);
        const ref = webCounter(caller.firestore, STOCK);
        // A buyer tries again later.
        caller.lastCall = caller.lastCall.then(() => web.undoIncrement(ref, action.key)).catch(() => undefined);
        break;
      }
      case "restock": {
        const { process, firestore } = this.#server(action.server);
        const ref = adminCounter(firestore, STOCK);
        this.#moveStock(process, action.units, () => admin.incrementCounter(ref, action.units));
        break;
      }
      case "takeServer": {
        const caller = this.#server(action.server);
        const ref = adminCounter(caller.firestore, STOCK);
        const { key, units } = action;
        if (key === undefined) this.#moveStock(caller.process, -units, () => takeOnServer(ref, units));
        else this.#take(caller, key, units, () => takeOnServer(ref, units, { key }));
        break;
      }
      case "bareWrite": {
        // A write without Tally's package, by a writer that does not know the shard count.
        const { process, firestore } = this.#startServer("bare");
        this.#oracle.setIntent(process, { kind: "anything" });
        const shard = firestore.doc(`counters/${action.counter}/shards/${action.shard}`);
        const data = { count: FieldValue.increment(action.by) };
        shard.set(data as never, { merge: true }).catch(() => undefined);
        break;
      }
      case "reset": {
        const { process, firestore } = this.#startServer("reset");
        this.#oracle.setIntent(process, { kind: "reset", to: action.to, since: scheduler.now });
        this.#operate(process, resetCounter(adminCounter(firestore, action.counter), action.to), () =>
          this.#oracle.checkResetDone(process),
        );
        break;
      }
      case "ensure":
        this.#ensure(action.counter, { initial: action.initial });
        break;
      case "prewarm":
        this.#ensure(action.counter, { shards: action.shards, holdFor: RESERVED_FOR });
        break;
      case "deleteCounter": {
        const { process, firestore } = this.#startServer("delete");
        this.#oracle.setIntent(process, { kind: "delete" });
        const ref = adminCounter(firestore, action.counter);
        this.#operate(
          process,
          this.#retry(process, () => deleteCounter(ref)),
          () => {},
        );
        break;
      }
      case "clear": {
        // Clearing an emulator: the counter disappears at one instant and no trigger fires.
        const { database } = this.#network;
        const process = this.#start("clear");
        this.#oracle.setIntent(process, { kind: "delete" });
        const path = `counters/${action.counter}`;
        const writes = [...database.below(path), path].map((path) => ({ path, kind: "delete" as const }));
        this.#oracle.onCommit({ process, ...database.commit(writes, scheduler.now) });
        break;
      }
      case "order":
      case "cancel": {
        const { firestore } = this.#server(action.server);
        this.#order(firestore, action.order, action.does === "order").catch(() => undefined);
        break;
      }
      case "post":
      case "unpost":
      case "page":
      case "unpage": {
        // The app's own documents. The app handles failures of these calls.
        const { firestore } = this.#startServer("app");
        const document = firestore.doc("page" in action ? action.page : `${POSTS}/${action.post}`);
        const call = action.does.startsWith("un") ? document.delete() : document.set({ title: "any" }, { merge: true });
        call.catch(() => undefined);
        break;
      }
      case "drift": {
        const { process, firestore } = this.#startServer("drift");
        this.#oracle.setIntent(process, { kind: "anything" });
        const shard = firestore.doc(`counters/${ORDERS.counter}/shards/0`);
        shard.set({ count: FieldValue.increment(action.by) } as never, { merge: true }).catch(() => undefined);
        break;
      }
      case "reconcile": {
        const { process, firestore } = this.#startServer("reconcile");
        const { collection } = ORDERS;
        const call = reconcileCounter(adminCounter(firestore, ORDERS.counter), { source: { collection } });
        this.#operate(process, call, (result) => this.#oracle.drift.checkReconciliation(process, result as never));
        break;
      }
      case "reconcileBySchedule": {
        const { process, firestore } = this.#startServer("setSource");
        const { collection } = ORDERS;
        const call = setSource(adminCounter(firestore, ORDERS.counter), { collection }, { every: 300_000 });
        this.#operate(process, call, () => {});
        break;
      }
      case "oldField": {
        // What Google's extension had counted before anything moved, so no call that may arrive after the move.
        const { database, onCommit } = this.#network;
        const process = this.#start("old field");
        this.#oracle.setIntent(process, { kind: "anything" });
        const { document: path, field } = BRIDGED;
        const write = { path, kind: "create" as const, data: { [field]: action.total } };
        onCommit({ process, ...database.commit([write], scheduler.now) });
        break;
      }
      case "oldIncrement": {
        // Google's client does not know whether a repeated call has counted already.
        const { process, firestore } = this.#startServer(`old ${action.does}`);
        this.#oracle.setIntent(process, { kind: "anything" });
        const { document, field } = BRIDGED;
        firestore
          .doc(`${document}/_counter_shards_/client${action.client}`)
          .set({ [field]: FieldValue.increment(action.by) } as never, { merge: true })
          .catch(() => undefined);
        break;
      }
      case "oldWipe": {
        // The app replaces its document, and the field is gone.
        const { process, firestore } = this.#startServer("app");
        this.#oracle.setIntent(process, { kind: "anything" });
        firestore
          .doc(BRIDGED.document)
          .set({ title: "any" })
          .catch(() => undefined);
        break;
      }
      case "oldFold":
      case "oldAggregate":
      case "oldPartial": {
        const { process, firestore } = this.#startServer("Google's functions");
        this.#oracle.setIntent(process, { kind: "legacyMove" });
        const call =
          action.does === "oldPartial"
            ? movePartialShard(firestore)
            : foldLegacyShards(firestore, action.does === "oldAggregate");
        call.catch(() => undefined);
        break;
      }
      case "import":
      case "giveBack": {
        const { process, firestore } = this.#startServer(action.does);
        this.#oracle.setIntent(process, { kind: "move" });
        const { counter: counterId, document, field } = BRIDGED;
        const one = { counterId, field: [field] };
        this.#operate<unknown>(
          process,
          action.does === "import"
            ? moveLegacyIncrements(firestore, "counters", document, [one])
            : giveBack(firestore, "counters", document, one),
          () => {},
        );
        break;
      }
      case "closeClient":
        this.#kill(this.#clients, action.client);
        break;
      case "killServer":
        this.#oracle.stock.serverDied();
        this.#kill(this.#servers, action.server);
    }
  }

  /** Every call of a live operator has returned. */
  atEnd(): void {
    for (const process of this.#waiting) {
      if (!process.isDead) this.#oracle.fail("completion", `the call of ${process.name} has not returned`);
    }
  }

  /** Creates or deletes an app's own document together with its increment, in one commit. */
  async #order(firestore: RealAdminFirestore, id: string, isNew: boolean): Promise<void> {
    const document = firestore.doc(`${ORDERS.collection}/${id}`);
    const ref = adminCounter(firestore, ORDERS.counter);
    await firestore.runTransaction(async (transaction) => {
      const { exists } = await transaction.get(document);
      if (exists === isNew) return;
      if (isNew) transaction.create(document, {});
      else transaction.delete(document);
      admin.incrementCounterIn(transaction, ref, isNew ? 1 : -1);
    });
  }

  #ensure(counter: string, options: EnsureOptions): Promise<void> {
    const { process, firestore } = this.#startServer("ensure");
    this.#oracle.setIntent(process, { kind: "ensure", initial: options.initial ?? 0 });
    const { database, scheduler } = this.#network;
    const start = scheduler.now;
    const ref = adminCounter(firestore, counter);
    return this.#operate(process, ensureCounter(ref, options), () => {
      const exists = [ref.path, `${ref.path}/shards/base`].some((path) => database.get(path).fields);
      if (exists || this.#oracle.deletedAt(counter) >= start) return;
      this.#oracle.fail("I5", `${process.name} is done, but ${counter} does not exist`);
    });
  }

  /** An operator retries an idempotent call after each transient failure. */
  async #retry(process: Process, call: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isTransient(error as Refused)) throw error;
        await this.#network.scheduler.sleep(1_000_000, process);
      }
    }
  }

  /** An operator waits for the result of a call. */
  #operate<T>(process: Process, call: Promise<T>, done: (result: T) => void): Promise<void> {
    this.#waiting.add(process);
    return call
      .then(done, (error) => {
        // After three timeouts in a row, a reconcile reports that its source is too large.
        if (error.code !== "counter/source-too-large")
          this.#oracle.fail("completion", `${process.name} gives up: ${error}`);
      })
      .finally(() => this.#waiting.delete(process));
  }

  /** Calls of a server run one after the other. A web client does not wait: it keeps their order itself. */
  #keyed(caller: Caller<unknown>, counter: string, key: string, counts: boolean, call: () => Promise<void>): void {
    const { done, failed } = this.#oracle.keyedIncrements.begin(caller.process, counter, key, counts);
    const outcome = caller.firestore instanceof WebFirestore ? call() : caller.lastCall.then(call);
    caller.lastCall = Promise.all([caller.lastCall, outcome.then(done, failed)]).then(() => undefined);
  }

  /** A take, once the sale has opened. Those of a caller run one after the other, as calls for keys do. */
  #take(caller: Caller<unknown>, key: string, units: number, call: () => Promise<number>): void {
    const sale = this.#sale;
    if (!sale) return;
    caller.lastCall = Promise.all([sale, caller.lastCall]).then(async () => {
      const { done, failed } = this.#oracle.stock.beginTake(caller.process, key, units, this.#network.scheduler.now);
      await call().then(done, failed);
    });
  }

  /** A server puts units in or takes them, without a key, once the sale has opened. */
  #moveStock(process: Process, by: number, call: () => Promise<unknown>): void {
    this.#sale?.then(async () => {
      const { done, failed } = this.#oracle.stock.beginServer(process, by, this.#network.scheduler.now);
      await call().then(done, failed);
    });
  }

  #client(index: number): Caller<RealWebFirestore> {
    let client = this.#clients.get(index);
    if (!client) {
      const process = this.#start(`client ${index}`);
      const firestore = new WebFirestore(new Connection(this.#network, process)) as unknown as RealWebFirestore;
      client = { process, firestore, lastCall: Promise.resolve() };
      this.#clients.set(index, client);
    }
    return client;
  }

  #server(index: number): Caller<RealAdminFirestore> {
    const server = this.#servers.get(index) ?? this.#startServer(`server ${index}`);
    this.#servers.set(index, server);
    return server;
  }

  #startServer(name: string): Caller<RealAdminFirestore> {
    const process = this.#start(name);
    const firestore = new AdminFirestore(new Connection(this.#network, process)) as unknown as RealAdminFirestore;
    return { process, firestore, lastCall: Promise.resolve() };
  }

  #start(name: string): Process {
    const times = this.#started.get(name) ?? 0;
    this.#started.set(name, times + 1);
    return new Process(`${name}${"′".repeat(times)}`, this.#seed);
  }

  /** Ends a process. The next caller with this number is a new process. */
  #kill(callers: Map<number, Caller<unknown>>, index: number): void {
    const process = callers.get(index)?.process;
    if (!process) return;
    this.#network.log(process, () => "dies");
    process.isDead = true;
    callers.delete(index);
  }
}
