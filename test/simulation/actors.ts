/** Those who count: web clients, servers and operators, each with the package's real code, each able to die at any time. */

import type { Firestore as RealWebFirestore } from "firebase/firestore";
import type { Firestore as RealAdminFirestore } from "firebase-admin/firestore";
import { counter as adminCounter } from "../../admin/src/counter.ts";
import { deleteCounter } from "../../admin/src/delete.ts";
import { type EnsureOptions, ensureCounter } from "../../admin/src/ensure.ts";
import * as admin from "../../admin/src/increment.ts";
import { reconcileCounter } from "../../admin/src/reconcile.ts";
import { resetCounter } from "../../admin/src/reset.ts";
import { setSource } from "../../admin/src/source.ts";
import { counter as webCounter } from "../../client/src/web/counter.ts";
import * as web from "../../client/src/web/increment.ts";
import { Firestore as AdminFirestore, FieldValue } from "./model/adminSdk.ts";
import { Code, type Refused } from "./model/database.ts";
import { Connection, type Network } from "./model/network.ts";
import { Firestore as WebFirestore } from "./model/webSdk.ts";
import type { Oracle } from "./oracle/oracle.ts";
import { type Action, ORDERS, POSTS } from "./scenario.ts";
import { Process } from "./scheduler.ts";

/** The connection's own failures. */
function isTransient({ code }: Refused): boolean {
  return code === Code.DEADLINE_EXCEEDED || code === Code.UNAVAILABLE || code === Code.ABORTED;
}

interface Actor<Firestore> {
  readonly process: Process;
  readonly firestore: Firestore;
  /** What it does one after the other. */
  turn: Promise<void>;
}

/** What is believed of a key. */
interface Belief {
  counts: boolean;
  /** How many ask, and for how many of their questions nobody knows the answer. */
  readonly askers: Set<Process>;
  open: number;
  wasUndone: boolean;
}

export class Actors {
  readonly #network: Network;
  readonly #oracle: Oracle;
  readonly #seed: number;
  readonly #clients = new Map<number, Actor<RealWebFirestore>>();
  readonly #servers = new Map<number, Actor<RealAdminFirestore>>();
  readonly #beliefs = new Map<string, Belief>();
  readonly #waiting = new Set<Process>();
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
        const told = this.#oracle.increments.ask(process, action.counter, action.by);
        web.incrementCounter(webCounter(firestore, action.counter), action.by).then(told, () => {
          this.#oracle.increments.refused(process, action.counter, action.by);
          told();
        });
        break;
      }
      case "like":
      case "unlike": {
        const actor = this.#client(action.client);
        const ref = webCounter(actor.firestore, action.counter);
        this.#keyed(actor, action.counter, action.key, action.does === "like", () =>
          action.does === "like"
            ? web.incrementCounter(ref, 1, { key: action.key })
            : web.undoIncrement(ref, action.key),
        );
        break;
      }
      case "add": {
        const { process, firestore } = this.#server(action.server);
        const told = this.#oracle.increments.ask(process, action.counter, action.by);
        // Whatever goes wrong here passes, so nothing is given up.
        admin
          .incrementCounter(adminCounter(firestore, action.counter), action.by)
          .then(told, (error) => this.#oracle.fail("answers", `${process.name} gives up: ${error}`));
        break;
      }
      case "addOnce":
      case "undoOnce": {
        const actor = this.#server(action.server);
        const ref = adminCounter(actor.firestore, action.counter);
        this.#keyed(actor, action.counter, action.key, action.does === "addOnce", () =>
          action.does === "addOnce"
            ? admin.incrementCounter(ref, 1, { key: action.key })
            : admin.undoIncrement(ref, action.key),
        );
        break;
      }
      case "bareWrite": {
        // Not by Tally's package, and from a writer that knows of no shard count.
        const { process, firestore } = this.#startServer("bare");
        this.#oracle.expect(process, { kind: "anything" });
        const shard = firestore.doc(`counters/${action.counter}/shards/${action.shard}`);
        const data = { count: FieldValue.increment(action.by) };
        shard.set(data as never, { merge: true }).catch(() => undefined);
        break;
      }
      case "reset": {
        const { process, firestore } = this.#startServer("reset");
        this.#oracle.expect(process, { kind: "reset", to: action.to, since: scheduler.now });
        this.#operate(process, resetCounter(adminCounter(firestore, action.counter), action.to), () =>
          this.#oracle.resetDone(process),
        );
        break;
      }
      case "ensure":
        this.#ensure(action.counter, { initial: action.initial });
        break;
      case "prewarm":
        this.#ensure(action.counter, { shards: action.shards });
        break;
      case "deleteCounter": {
        const { process, firestore } = this.#startServer("delete");
        this.#oracle.expect(process, { kind: "delete" });
        const ref = adminCounter(firestore, action.counter);
        this.#operate(
          process,
          this.#untilDone(process, () => deleteCounter(ref)),
          () => {},
        );
        break;
      }
      case "clear": {
        // An emulator is cleared of the counter: at one instant, and no trigger hears of it.
        const { database } = this.#network;
        const process = this.#start("clear");
        this.#oracle.expect(process, { kind: "delete" });
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
        // The app's own documents. What becomes of these calls is up to the app.
        const { firestore } = this.#startServer("app");
        const document = firestore.doc("page" in action ? action.page : `${POSTS}/${action.post}`);
        const call = action.does.startsWith("un") ? document.delete() : document.set({ title: "any" }, { merge: true });
        call.catch(() => undefined);
        break;
      }
      case "drift": {
        const { process, firestore } = this.#startServer("drift");
        this.#oracle.expect(process, { kind: "anything" });
        const shard = firestore.doc(`counters/${ORDERS.counter}/shards/0`);
        shard.set({ count: FieldValue.increment(action.by) } as never, { merge: true }).catch(() => undefined);
        break;
      }
      case "reconcile": {
        const { process, firestore } = this.#startServer("reconcile");
        const { collection } = ORDERS;
        const call = reconcileCounter(adminCounter(firestore, ORDERS.counter), { source: { collection } });
        this.#operate(process, call, (said) => this.#oracle.drifts.reconciled(process, said as never));
        break;
      }
      case "reconcileBySchedule": {
        const { process, firestore } = this.#startServer("setSource");
        const { collection } = ORDERS;
        const call = setSource(adminCounter(firestore, ORDERS.counter), { collection }, { every: 300_000 });
        this.#operate(process, call, () => {});
        break;
      }
      case "closeClient":
        this.#die(this.#clients, action.client);
        break;
      case "killServer":
        this.#die(this.#servers, action.server);
    }
  }

  /** Whoever is alive has its answers, and what single askers were told of their keys is what is so. */
  atEnd(exists: (counter: string, key: string) => boolean): void {
    for (const process of this.#waiting) {
      if (!process.isDead) this.#oracle.fail("answers", `${process.name} has heard nothing`);
    }
    for (const [name, { counts, askers, open, wasUndone }] of this.#beliefs) {
      const [counter = "", key = ""] = name.split("/");
      // What counted is gone with the counter, whatever was told.
      if (this.#oracle.deletedAt(counter) > 0) continue;
      const isAlive = [...askers].every((process) => !process.isDead);
      if (isAlive && open > 0) this.#oracle.fail("answers", `nobody heard what came of ${name}`);
      // A call that lands after its key was taken back counts it again; nothing in the database could tell.
      if (wasUndone && this.#network.faults.injected["calls that land late"]) continue;
      if (askers.size === 1 && open === 0 && exists(counter, key) !== counts) {
        this.#oracle.fail("I8", `${key} was told that it ${counts ? "counts" : "does not count"} in ${counter}`);
      }
    }
  }

  /** An app's own document and its increment, in one commit. Whether it was made is nobody's concern here. */
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

  #ensure(counter: string, options: EnsureOptions): void {
    const { process, firestore } = this.#startServer("ensure");
    this.#oracle.expect(process, { kind: "ensure", initial: options.initial ?? 0 });
    const { database, scheduler } = this.#network;
    const start = scheduler.now;
    const ref = adminCounter(firestore, counter);
    this.#operate(process, ensureCounter(ref, options), () => {
      const exists = [ref.path, `${ref.path}/shards/base`].some((path) => database.get(path).fields);
      if (exists || this.#oracle.deletedAt(counter) >= start) return;
      this.#oracle.fail("I5", `${process.name} is done, but ${counter} does not exist`);
    });
  }

  /** An operator repeats a call that may be repeated, as long as it fails on the way. */
  async #untilDone(process: Process, call: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isTransient(error as Refused)) throw error;
        await this.#network.scheduler.sleep(1_000_000, process);
      }
    }
  }

  /** An operator waits until it is told that its call is done. */
  #operate<T>(process: Process, call: Promise<T>, done: (result: T) => void): void {
    this.#waiting.add(process);
    call
      .then(done, (error) => {
        // Where calls time out three times in a row, a reconcile says that its source is too large.
        if (error.code !== "counter/source-too-large")
          this.#oracle.fail("answers", `${process.name} gives up: ${error}`);
      })
      .finally(() => this.#waiting.delete(process));
  }

  /** Keyed ones take turns: people like, then unlike. */
  #keyed(actor: Actor<unknown>, counter: string, key: string, counts: boolean, ask: () => Promise<void>): void {
    const name = `${counter}/${key}`;
    const belief = this.#beliefs.get(name) ?? { counts: false, askers: new Set(), open: 0, wasUndone: false };
    this.#beliefs.set(name, belief);
    belief.askers.add(actor.process);
    belief.open++;
    belief.wasUndone ||= !counts;
    actor.turn = actor.turn.then(ask).then(
      () => {
        belief.counts = counts;
        belief.open--;
      },
      (error) => {
        belief.open--;
        // Of two devices that contradict each other, one may be refused.
        if (belief.askers.size === 1 && this.#oracle.deletedAt(counter) === 0)
          this.#oracle.fail("I8", `${actor.process.name} was refused ${name}: ${error}`);
      },
    );
  }

  #client(index: number): Actor<RealWebFirestore> {
    let client = this.#clients.get(index);
    if (!client) {
      const process = this.#start(`client ${index}`);
      const firestore = new WebFirestore(new Connection(this.#network, process)) as unknown as RealWebFirestore;
      client = { process, firestore, turn: Promise.resolve() };
      this.#clients.set(index, client);
    }
    return client;
  }

  #server(index: number): Actor<RealAdminFirestore> {
    const server = this.#servers.get(index) ?? this.#startServer(`server ${index}`);
    this.#servers.set(index, server);
    return server;
  }

  #startServer(name: string): Actor<RealAdminFirestore> {
    const process = this.#start(name);
    const firestore = new AdminFirestore(new Connection(this.#network, process)) as unknown as RealAdminFirestore;
    return { process, firestore, turn: Promise.resolve() };
  }

  #start(name: string): Process {
    const times = this.#started.get(name) ?? 0;
    this.#started.set(name, times + 1);
    return new Process(`${name}${"′".repeat(times)}`, this.#seed);
  }

  /** It is gone; whoever comes next under this number is another process. */
  #die(actors: Map<number, Actor<unknown>>, index: number): void {
    const process = actors.get(index)?.process;
    if (!process) return;
    this.#network.log(process, () => "dies");
    process.isDead = true;
    actors.delete(index);
  }
}
