/** A counter that was made by hand: old apps, which write after the recipe of Firebase's documentation, and the command `adopt`. */
import { counter as adminCounter } from "../../../admin/src/counter.ts";
import { adoptCounter, endAdoption } from "../../../cli/src/adoptCounter.ts";
import { FieldValue } from "../model/adminSdk.ts";
import { Code, type Refused } from "../model/database.ts";
import { HAND_MADE } from "../scenario/scenario.ts";
import type { Handlers, Processes } from "./processes.ts";

const PATH = `counters/${HAND_MADE}`;

export function handMade(processes: Processes): Handlers<"makeByHand" | "oldUpdate" | "adopt" | "endAdoption"> {
  const { oracle, network } = processes;
  /** Operators repeat a call until it is done. */
  const operate = (name: string, call: typeof adoptCounter | typeof endAdoption) => {
    const { process, firestore } = processes.startServer(name);
    oracle.setIntent(process, { kind: "ensure", initial: 0 });
    const done = processes.retry(process, async () => void (await call(adminCounter(firestore, HAND_MADE))));
    void processes.operate(process, done);
  };
  return {
    /** Before there were functions, so no event is delivered. */
    makeByHand({ numShards, count }) {
      const { database, scheduler } = network;
      const process = processes.start("recipe");
      oracle.setIntent(process, { kind: "before" });
      const shards = Array.from({ length: numShards }, (_, n) => ({ path: `${PATH}/shards/${n}`, data: { count } }));
      const writes = [{ path: PATH, data: { num_shards: numShards } }, ...shards];
      const sets = writes.map((write) => ({ ...write, kind: "set" as const }));
      oracle.onCommit({ process, ...database.commit(sets, scheduler.now) });
    },
    oldUpdate({ shard }) {
      const { process, firestore } = processes.startServer("old");
      oracle.setIntent(process, { kind: "anything" });
      const update = firestore.doc(`${PATH}/shards/${shard}`).update({ count: FieldValue.increment(1) } as never);
      update.catch(({ code }: Refused) => {
        if (code === Code.NOT_FOUND) oracle.fail("I5", `an old app's update of shard ${shard} is refused`);
      });
    },
    adopt: () => operate("adopt", adoptCounter),
    endAdoption: () => operate("end", endAdoption),
  };
}
