/** A field that Google's counter counts: its apps and functions, and operators who move the field to a counter and back. */

import { moveLegacyIncrements, rollBackField } from "../../../firestore/src/index.ts";
import { FieldValue } from "../model/adminSdk.ts";
import { BRIDGED } from "../scenario/scenario.ts";
import { foldLegacyShards, movePartialShard } from "./googleFunctions.ts";
import type { Handlers, Processes } from "./processes.ts";

const { counter: counterId, document, field } = BRIDGED;

export function googleExtension(
  processes: Processes,
): Handlers<
  "oldField" | "oldIncrement" | "oldWipe" | "oldFold" | "oldAggregate" | "oldPartial" | "import" | "giveBack"
> {
  const { oracle, network } = processes;
  const ignore = () => undefined;

  function callFunctions(call: typeof movePartialShard): void {
    const { process, firestore } = processes.startServer("Google's functions");
    oracle.setIntent(process, { kind: "legacyMove" });
    call(firestore).catch(ignore);
  }
  function startMove(name: string) {
    const operator = processes.startServer(name);
    oracle.setIntent(operator.process, { kind: "move" });
    return operator;
  }

  return {
    /** What Google's counter had counted before anything moved, so no call that may arrive after the move. */
    oldField({ total }) {
      const { database, onCommit, scheduler } = network;
      const process = processes.start("old field");
      oracle.setIntent(process, { kind: "anything" });
      const write = { path: document, kind: "create" as const, data: { [field]: total } };
      onCommit({ process, ...database.commit([write], scheduler.now) });
    },
    /** Google's client does not know whether a repeated call has counted already. */
    oldIncrement({ client, by }) {
      const { process, firestore } = processes.startServer("old oldIncrement");
      oracle.setIntent(process, { kind: "anything" });
      firestore
        .doc(`${document}/_counter_shards_/client${client}`)
        .set({ [field]: FieldValue.increment(by) } as never, { merge: true })
        .catch(ignore);
    },
    /** The app replaces its document, and the field is gone. */
    oldWipe() {
      const { process, firestore } = processes.startServer("app");
      oracle.setIntent(process, { kind: "anything" });
      firestore.doc(document).set({ title: "any" }).catch(ignore);
    },
    oldFold: () => callFunctions((firestore) => foldLegacyShards(firestore, false)),
    oldAggregate: () => callFunctions((firestore) => foldLegacyShards(firestore, true)),
    oldPartial: () => callFunctions(movePartialShard),
    import() {
      const { process, firestore } = startMove("import");
      const one = { counterId, field: [field] };
      processes.operate(process, moveLegacyIncrements(firestore, "counters", document, [one]));
    },
    giveBack() {
      const { process, firestore } = startMove("giveBack");
      processes.operate(process, rollBackField(firestore, "counters", document, { counterId, field: [field] }));
    },
  };
}
