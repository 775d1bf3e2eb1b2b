/** Events with items, which instances of ingest commit. */

import { counter as adminCounter } from "../../../admin/src/counter.ts";
import { commitTogether, receiptOf } from "../../../admin/src/groupCommit.ts";
import { resetCounter } from "../../../admin/src/reset.ts";
import { SEARCHED } from "../scenario/scenario.ts";
import type { Handlers, Processes } from "./processes.ts";

/** As long as an instance of ingest repeats a commit, in milliseconds. */
const INGEST_TIMEOUT = 20_000;

export function topItems(processes: Processes): Handlers<"search" | "resetItems"> {
  const { oracle, network } = processes;
  const { scheduler } = network;
  return {
    search({ events, diesAfter }) {
      const { process, firestore } = processes.startServer("ingest");
      oracle.setIntent(process, { kind: "anything" });
      const ref = adminCounter(firestore, SEARCHED);
      const units = events.map((event) => ({
        receipt: receiptOf(ref, event),
        counts: [event, "all", `group ${event.length}`].map((item) => ({ counter: ref, by: 1, item })),
      }));
      const isCounted = oracle.topItems.begin(events);
      commitTogether(units, Date.now() + INGEST_TIMEOUT).then(isCounted, () => {});
      if (diesAfter === undefined) return;
      scheduler.after(diesAfter, () => {
        process.isDead = true;
      });
    },
    resetItems() {
      const { process, firestore } = processes.startServer("reset");
      oracle.setIntent(process, { kind: "reset", to: 0, since: scheduler.now });
      processes.operate(process, resetCounter(adminCounter(firestore, SEARCHED), 0, { items: true }), () =>
        oracle.checkResetDone(process),
      );
    },
  };
}
