/** One trial: a storm, a fault, and the verdict on every counter once the fault has ended. */
import { copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin } from "../../testkit/clients.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import type { Fault, Injected } from "./chaos.ts";
import type { Rig } from "./rig.ts";
import { startStorm } from "./storm.ts";
import { startWitness } from "./witness.ts";

export interface Verdict {
  readonly injected: Injected;
  readonly acknowledged: number;
  readonly counters: number;
  /** From when the last fault had ended and the last increment was acknowledged until the last total was right. */
  readonly rightAfterMs: number;
  /** Everything that was wrong: errors, sums, entries, totals, their order. */
  readonly wrong: readonly string[];
}

/** How long to wait for what is still being delivered. On a busy machine it takes long to start functions anew. */
const PATIENCE_MS = 150_000;

/** If nothing is delivered for so long, nothing will be: no sweep runs, so what is not right by then was lost. */
const QUIET_MS = 3_000;

/**
 * @param name     goes into the ids of the trial's counters
 * @param seconds  how long increments begin
 */
export async function tryFault(rig: Rig, name: string, fault: Fault, seconds: number): Promise<Verdict> {
  const witness = startWitness();
  const storm = await startStorm(rig, name, seconds);
  try {
    const injected = await fault(rig, storm.over);
    const heard = await happened(() => storm.underWay() === 0);
    const calm = performance.now();

    const wrong = storm.errors.map((error) => `an increment failed: ${error}`);
    if (!heard) wrong.push(`${storm.underWay()} increments are neither acknowledged nor refused`);
    for (const [id, { sum, keyed }] of storm.ledger) {
      const shards = await sumOfShards(id);
      if (shards !== sum) wrong.push(`${id}: the shards say ${shards}, the writers ${sum}`);
      const entries = keyed ? (await admin.collection(`counters/${id}/entries`).count().get()).data().count : sum;
      if (entries !== sum) wrong.push(`${id}: ${entries} entries, the writers say ${sum}`);
    }
    const right = async (id: string) => (await readPublished(id))?.total === (await sumOfShards(id));
    const notRight = async (ids: Iterable<string>) => {
      const found: string[] = [];
      for (const id of ids) if (!(await right(id))) found.push(id);
      return found;
    };
    let behind = [...storm.ledger.keys()];
    let deliveredAt = calm;
    await happened(async () => {
      if (rig.events.pending() + rig.tasks.pending() > 0) deliveredAt = performance.now();
      behind = await notRight(behind);
      return behind.length === 0 || performance.now() - deliveredAt > QUIET_MS;
    });
    const rightAfterMs = performance.now() - calm;
    // Right they stay, whatever arrives late.
    if (behind.length === 0 && (await happened(() => rig.events.pending() === 0))) {
      behind = await notRight(storm.ledger.keys());
    }
    for (const id of behind) {
      const sums = `${(await readPublished(id))?.total} published, ${await sumOfShards(id)} in the shards`;
      const pending = `${rig.events.pending()} events and ${rig.tasks.pending()} tasks still to be delivered`;
      wrong.push(`${id}: ${sums}, with ${pending}: ${JSON.stringify(await readPublished(id))}`);
    }
    wrong.push(...witness.objections());
    if (wrong.length > 0) {
      const evidence = join(tmpdir(), `tally-faults-${name}.log`);
      copyFileSync(rig.functions.log, evidence);
      wrong.push(`what the functions printed is kept in ${evidence}`);
    }
    const accounts = [...storm.ledger.values()];
    const acknowledged = accounts.reduce((sum, one) => sum + one.acknowledged, 0);
    return { injected, acknowledged, counters: accounts.length, rightAfterMs, wrong };
  } finally {
    await witness.stop();
    await storm.close();
  }
}

async function happened(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  return await until(condition, "it", PATIENCE_MS).then(
    () => true,
    () => false,
  );
}

/** The figures, in one line. */
export function describeVerdict({ injected, acknowledged, counters, rightAfterMs, wrong }: Verdict): string {
  const faults = Object.entries(injected).map(([kind, count]) => `${count} ${kind}`);
  const outcome = wrong.length === 0 ? `${counters} of ${counters} totals exact` : `${wrong.length} THINGS WRONG`;
  const after = (rightAfterMs / 1_000).toFixed(1);
  return `${faults.join(", ")}: ${acknowledged} increments acknowledged, ${outcome}, the last one ${after} s afterwards`;
}
