/** What operators do to counters: create, reserve shards, reset, delete, reconcile. */

import { counter as adminCounter } from "../../../admin/src/counter.ts";
import { deleteCounter } from "../../../admin/src/delete.ts";
import { type EnsureCounterOptions, ensureCounter } from "../../../admin/src/ensure.ts";
import { reconcileCounter } from "../../../admin/src/reconcile.ts";
import { resetCounter } from "../../../admin/src/reset.ts";
import { setCounterSource } from "../../../admin/src/source.ts";
import { ORDERS } from "../scenario/scenario.ts";
import type { Handlers, Processes } from "./processes.ts";

/** How long shards are reserved, in milliseconds. Most reservations outlast the traffic, and end while there are faults. */
export const RESERVED_FOR = 300_000;

export function operators(
  processes: Processes,
): Handlers<"reset" | "ensure" | "prewarm" | "deleteCounter" | "clear" | "reconcile" | "reconcileBySchedule"> {
  const { oracle, network } = processes;
  const source = { collection: ORDERS.collection };
  return {
    reset({ counter, to }) {
      const { process, firestore } = processes.startServer("reset");
      oracle.setIntent(process, { kind: "reset", to, since: network.scheduler.now });
      processes.operate(process, resetCounter(adminCounter(firestore, counter), to), () =>
        oracle.checkResetDone(process),
      );
    },
    ensure: ({ counter, initial }) => void ensure(processes, counter, { initial, signal: processes.signal() }),
    prewarm: ({ counter, shards }) =>
      void ensure(processes, counter, { shards, holdFor: RESERVED_FOR, signal: processes.signal() }),
    deleteCounter({ counter }) {
      const { process, firestore } = processes.startServer("delete");
      oracle.setIntent(process, { kind: "delete" });
      const ref = adminCounter(firestore, counter);
      processes.operate(
        process,
        processes.retry(process, () => deleteCounter(ref)),
      );
    },
    /** Clearing an emulator: the counter disappears at one instant and no trigger fires. */
    clear({ counter }) {
      const { database, scheduler } = network;
      const process = processes.start("clear");
      oracle.setIntent(process, { kind: "delete" });
      const path = `counters/${counter}`;
      const writes = [...database.below(path), path].map((path) => ({ path, kind: "delete" as const }));
      oracle.onCommit({ process, ...database.commit(writes, scheduler.now) });
    },
    reconcile() {
      const { process, firestore } = processes.startServer("reconcile");
      const call = reconcileCounter(adminCounter(firestore, ORDERS.counter), { source });
      processes.operate(process, call, (result) => oracle.drift.checkReconciliation(process, result as never));
    },
    reconcileBySchedule() {
      const { process, firestore } = processes.startServer("setCounterSource");
      const call = setCounterSource(adminCounter(firestore, ORDERS.counter), source, { every: 300_000 });
      processes.operate(process, call);
    },
  };
}

export function ensure(processes: Processes, counter: string, options: EnsureCounterOptions): Promise<void> {
  const { oracle, network } = processes;
  const { database, scheduler } = network;
  const { process, firestore } = processes.startServer("ensure");
  oracle.setIntent(process, { kind: "ensure", initial: options.initial ?? 0 });
  const start = scheduler.now;
  const ref = adminCounter(firestore, counter);
  return processes.operate(process, ensureCounter(ref, options), () => {
    const counts = database
      .below(ref.path)
      .filter((path) => /^\/(shards|tallyEntries)\//.test(path.slice(ref.path.length)));
    const exists = database.get(ref.path).fields || counts.length > 0;
    if (exists || oracle.deletedAt(counter) >= start) return;
    oracle.fail("I5", `${process.name} is done, but ${counter} does not exist`);
  });
}
