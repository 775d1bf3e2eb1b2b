/** Unique visitors, with a view or without. */

import { counter as adminCounter } from "../../../admin/src/counter.ts";
import { resetCounter } from "../../../admin/src/reset.ts";
import { countVisitor as countVisitorOnServer } from "../../../admin/src/visitors.ts";
import { counter as webCounter } from "../../../client/src/web/counter.ts";
import { incrementCounter } from "../../../client/src/web/increment.ts";
import { countVisitor } from "../../../client/src/web/visitors.ts";
import { VISITED } from "../scenario/scenario.ts";
import type { Handlers, Processes } from "./processes.ts";

export function visitors(processes: Processes): Handlers<"visit" | "visitServer" | "resetVisitors"> {
  const { oracle, network } = processes;
  return {
    visit({ client, visitor, by }) {
      const { process, firestore } = processes.client(client);
      const ref = webCounter(firestore, VISITED);
      const isCounted = oracle.visitors.begin(visitor);
      countVisitor(ref, visitor).then(isCounted, () => {});
      if (by === undefined) return;
      const { acknowledged } = oracle.increments.begin(process, VISITED, by);
      incrementCounter(ref, by).then(acknowledged, () => {
        oracle.increments.rejected(process, VISITED, by);
        acknowledged();
      });
    },
    visitServer({ server, visitor }) {
      const { process, firestore } = processes.server(server);
      const isCounted = oracle.visitors.begin(visitor);
      countVisitorOnServer(adminCounter(firestore, VISITED), visitor).then(isCounted, (error) => {
        if (!process.isDead) oracle.fail("completion", `${process.name} gives up: ${error}`);
      });
    },
    resetVisitors() {
      const { process, firestore } = processes.startServer("reset");
      oracle.setIntent(process, { kind: "reset", to: 0, since: network.scheduler.now });
      processes.operate(process, resetCounter(adminCounter(firestore, VISITED), 0, { visitors: true }), () =>
        oracle.checkResetDone(process),
      );
    },
  };
}
