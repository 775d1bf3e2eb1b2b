/** One trial: a storm, a fault, and the verdict on every counter once the fault has ended. */
import { copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin } from "../support/app.ts";
import { published, sumOfShards, until } from "../support/suite.ts";
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

/** Without any further write, every total is right by then. No sweep runs: what is lost without one, stays lost. */
const PATIENCE_MS = 60_000;

/**
 * @param name     goes into the ids of the trial's counters
 * @param seconds  how long increments begin
 */
export async function tryFault(rig: Rig, name: string, fault: Fault, seconds: number): Promise<Verdict> {
  const witness = startWitness();
  const storm = await startStorm(rig, name, seconds);
  try {
    const injected = await fault(rig, storm.over);
    await storm.settled();
    const calm = performance.now();

    const wrong = storm.errors.map((error) => `an increment failed: ${error}`);
    for (const [id, { sum, keyed }] of storm.ledger) {
      const shards = await sumOfShards(id);
      if (shards !== sum) wrong.push(`${id}: the shards say ${shards}, the writers ${sum}`);
      const entries = keyed ? (await admin.collection(`counters/${id}/entries`).count().get()).data().count : sum;
      if (entries !== sum) wrong.push(`${id}: ${entries} entries, the writers say ${sum}`);
    }
    const behind = new Set(storm.ledger.keys());
    const allRight = async () => {
      for (const id of behind) if ((await published(id))?.total === (await sumOfShards(id))) behind.delete(id);
      return behind.size === 0;
    };
    await until(allRight, "the totals", PATIENCE_MS).catch(() => undefined);
    const rightAfterMs = performance.now() - calm;
    for (const id of behind) {
      const document = JSON.stringify(await published(id));
      wrong.push(`${id}: still published ${document} with ${await sumOfShards(id)} in the shards`);
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

/** The figures, in one line. */
export function describeVerdict({ injected, acknowledged, counters, rightAfterMs, wrong }: Verdict): string {
  const faults = Object.entries(injected).map(([kind, count]) => `${count} ${kind}`);
  const outcome = wrong.length === 0 ? `${counters} of ${counters} totals exact` : `${wrong.length} THINGS WRONG`;
  const after = (rightAfterMs / 1_000).toFixed(1);
  return `${faults.join(", ")}: ${acknowledged} increments acknowledged, ${outcome}, the last one ${after} s afterwards`;
}
