/** A sale of the bounded counter: users and servers take units, some give them back, and servers restock. */

import { counter as adminCounter } from "../../../admin/src/counter.ts";
import * as admin from "../../../admin/src/increment.ts";
import { takeFromCounter as takeOnServer } from "../../../admin/src/stock.ts";
import { counter as webCounter } from "../../../client/src/web/counter.ts";
import { undoIncrement } from "../../../client/src/web/increment.ts";
import { takeFromCounter } from "../../../client/src/web/stock.ts";
import { STOCK } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import { ensure, RESERVED_FOR } from "./operators.ts";
import type { Caller, Handlers, Processes } from "./processes.ts";

export function stock(processes: Processes): Handlers<"openSale" | "take" | "undoTake" | "restock" | "takeServer"> {
  const { oracle, network } = processes;
  /** Resolves once the bounded counter exists. */
  let sale: Promise<void> | undefined;

  async function take({ process }: Caller, once: string, units: number, call: () => Promise<number>): Promise<void> {
    const { done, failed } = oracle.stock.beginTake(process, once, units, network.scheduler.now);
    await call().then(done, failed);
  }

  /** A server puts units in or takes them, without `once`, once the sale has opened. */
  function moveStock(process: Process, by: number, call: () => Promise<unknown>): void {
    sale?.then(async () => {
      const { done, failed } = oracle.stock.beginServer(process, by, network.scheduler.now);
      await call().then(done, failed);
    });
  }

  return {
    openSale({ units, shards }) {
      sale = ensure(processes, STOCK, { initial: units, bounded: true, shards, holdFor: RESERVED_FOR });
    },
    take({ client, once, units }) {
      const caller = processes.client(client);
      const ref = webCounter(caller.firestore, STOCK);
      sale?.then(() => take(caller, once, units, () => takeFromCounter(ref, units, { once })));
    },
    /** Of a buyer who does not wait for the take before: the client keeps the order itself. */
    undoTake({ client, once }) {
      const ref = webCounter(processes.client(client).firestore, STOCK);
      // A buyer tries again later.
      sale?.then(() => undoIncrement(ref, once).catch(() => undefined));
    },
    restock({ server, units }) {
      const { process, firestore } = processes.server(server);
      moveStock(process, units, () => admin.incrementCounter(adminCounter(firestore, STOCK), units));
    },
    takeServer({ server, once, units }) {
      const caller = processes.server(server);
      const ref = adminCounter(caller.firestore, STOCK);
      if (once === undefined) moveStock(caller.process, -units, () => takeOnServer(ref, units));
      else if (sale) {
        const call = () => take(caller, once, units, () => takeOnServer(ref, units, { once }));
        caller.lastCall = Promise.all([sale, caller.lastCall]).then(call);
      }
    },
  };
}
