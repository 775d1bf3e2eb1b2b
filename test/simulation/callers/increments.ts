/** Increments, with `once` or without, by the packages and by a writer without them. */

import { counter as adminCounter } from "../../../admin/src/counter.ts";
import * as admin from "../../../admin/src/increment.ts";
import { counter as webCounter } from "../../../client/src/web/counter.ts";
import * as web from "../../../client/src/web/increment.ts";
import { FieldValue } from "../model/adminSdk.ts";
import { call } from "../mutations/mutation.ts";
import { isEnded } from "../oracle/onceIncrements.ts";
import type { Caller, Handlers, Processes } from "./processes.ts";

export function increments(
  processes: Processes,
): Handlers<"increment" | "add" | "like" | "unlike" | "addOnce" | "undoOnce" | "bareWrite"> {
  const { oracle } = processes;

  /** Begins calls with `once` in their order: a web client keeps it itself, a server waits for each. */
  function inOrder(
    caller: Caller,
    isOrdered: boolean,
    [counter, once, counts]: [counter: string, once: string, counts: boolean],
    increment: () => Promise<void>,
  ): void {
    const { done, failed } = oracle.onceIncrements.begin(caller.process, counter, once, counts);
    const make = () => call(counts ? "like" : "unlike", increment);
    const outcome = isOrdered ? make() : caller.lastCall.then(make);
    caller.lastCall = Promise.all([caller.lastCall, outcome.then(done, failed)]).then(() => undefined);
  }

  return {
    increment({ client, counter, by }) {
      const { process, firestore } = processes.client(client);
      const { acknowledged } = oracle.increments.begin(process, counter, by);
      web.incrementCounter(webCounter(firestore, counter), by).then(acknowledged, () => {
        oracle.increments.rejected(process, counter, by);
        acknowledged();
      });
    },
    add({ server, counter, by }) {
      const { process, firestore } = processes.server(server);
      const { acknowledged, ended } = oracle.increments.begin(process, counter, by);
      // Every simulated failure is transient, so only its signal ends this call.
      admin
        .incrementCounter(adminCounter(firestore, counter), by, { signal: processes.signal() })
        .then(acknowledged, (error) => {
          if (isEnded(error)) ended();
          else if (!process.isDead) oracle.fail("completion", `${process.name} gives up: ${error}`);
        });
    },
    like({ client, counter, once }) {
      const caller = processes.client(client);
      const ref = webCounter(caller.firestore, counter);
      inOrder(caller, true, [counter, once, true], () => web.incrementCounter(ref, 1, { once }));
    },
    unlike({ client, counter, once }) {
      const caller = processes.client(client);
      const ref = webCounter(caller.firestore, counter);
      inOrder(caller, true, [counter, once, false], () => web.undoIncrement(ref, once));
    },
    addOnce({ server, counter, once }) {
      const caller = processes.server(server);
      const ref = adminCounter(caller.firestore, counter);
      inOrder(caller, false, [counter, once, true], () =>
        admin.incrementCounter(ref, 1, { once, signal: processes.signal() }),
      );
    },
    undoOnce({ server, counter, once }) {
      const caller = processes.server(server);
      const ref = adminCounter(caller.firestore, counter);
      inOrder(caller, false, [counter, once, false], () =>
        admin.undoIncrement(ref, once, { signal: processes.signal() }),
      );
    },
    /** A write without Tally's package, by a writer that does not know the shard count. */
    bareWrite({ counter, shard, by }) {
      const { process, firestore } = processes.startServer("bare");
      oracle.setIntent(process, { kind: "anything" });
      firestore
        .doc(`counters/${counter}/shards/${shard}`)
        .set({ count: FieldValue.increment(by) } as never, { merge: true })
        .catch(() => undefined);
    },
  };
}
