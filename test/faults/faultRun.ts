/** One run: a workload under a fault, and a check of every counter once the fault has ended. */
import { copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin } from "../../testkit/clients.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import type { FaultEnvironment } from "./environment.ts";
import type { Fault, FaultCounts } from "./faults.ts";
import { monitorPublishes } from "./publishMonitor.ts";
import { startWorkload } from "./workload.ts";

export interface FaultRunResult {
  readonly injected: FaultCounts;
  readonly acknowledged: number;
  readonly counters: number;
  /** From the end of the last fault and the last acknowledgement until every total was right. */
  readonly recoveryMs: number;
  /** Every error and every violation found in sums, entries, totals and the order of publishes. */
  readonly violations: readonly string[];
}

/** How long to wait for late deliveries. On a busy machine functions take long to start again. */
const TIMEOUT_MS = 150_000;

/** A total that is wrong this long after the last delivery stays wrong, since no sweep runs. */
const QUIET_MS = 3_000;

/**
 * @param name     part of the ids of the run's counters
 * @param seconds  how long increments begin
 */
export async function runUnderFault(
  environment: FaultEnvironment,
  name: string,
  fault: Fault,
  seconds: number,
): Promise<FaultRunResult> {
  const monitor = monitorPublishes();
  const workload = await startWorkload(environment, name, seconds);
  try {
    const injected = await fault(environment, workload.end);
    const isAnswered = await holdsInTime(() => workload.pending() === 0);
    const faultsEndedAt = performance.now();

    const violations = workload.errors.map((error) => `an increment failed: ${error}`);
    if (!isAnswered) violations.push(`${workload.pending()} increments are neither acknowledged nor rejected`);
    for (const [id, { sum, countsOnce }] of workload.acknowledged) {
      const shards = await sumOfIncrements(id);
      if (shards !== sum) violations.push(`${id}: the shards sum to ${shards}, ${sum} were acknowledged`);
      const entries = countsOnce
        ? (await admin.collection(`counters/${id}/tallyEntries`).count().get()).data().count
        : sum;
      if (entries !== sum) violations.push(`${id}: ${entries} entries, ${sum} were acknowledged`);
    }
    const wrongTotals = async (ids: Iterable<string>) => {
      const isWrong = async (id: string) => (await readPublished(id))?.total !== (await sumOfIncrements(id));
      const all = await Promise.all([...ids].map(async (id) => ({ id, isWrong: await isWrong(id) })));
      return all.filter((counter) => counter.isWrong).map(({ id }) => id);
    };
    let wrong = [...workload.acknowledged.keys()];
    let lastPendingAt = faultsEndedAt;
    const { events, tasks, functions } = environment;
    await holdsInTime(async () => {
      wrong = await wrongTotals(wrong);
      if (events.pending() + tasks.pending() > 0) lastPendingAt = performance.now();
      return wrong.length === 0 || performance.now() - lastPendingAt > QUIET_MS;
    });
    const recoveryMs = performance.now() - faultsEndedAt;
    // Late deliveries must not change a total that was right.
    if (wrong.length === 0 && (await holdsInTime(() => events.pending() === 0))) {
      wrong = await wrongTotals(workload.acknowledged.keys());
    }
    for (const id of wrong) {
      const published = await readPublished(id);
      const sums = `${published?.total} published, ${await sumOfIncrements(id)} in the shards`;
      const pending = `${events.pending()} events and ${tasks.pending()} tasks pending`;
      violations.push(`${id}: ${sums}, with ${pending}: ${JSON.stringify(published)}`);
    }
    violations.push(...monitor.violations());
    if (violations.length > 0) {
      const log = join(tmpdir(), `tally-faults-${name}.log`);
      copyFileSync(functions.log, log);
      violations.push(`the functions' output is kept in ${log}`);
    }
    const counters = [...workload.acknowledged.values()];
    const acknowledged = counters.reduce((sum, { calls }) => sum + calls, 0);
    return { injected, acknowledged, counters: counters.length, recoveryMs, violations };
  } finally {
    await monitor.stop();
    await workload.close();
  }
}

async function holdsInTime(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  return await until(condition, "it", TIMEOUT_MS).then(
    () => true,
    () => false,
  );
}

/** The figures, in one line. */
export function describeResult(result: FaultRunResult): string {
  const { injected, acknowledged, counters, recoveryMs, violations } = result;
  const faults = Object.entries(injected).map(([kind, count]) => `${count} ${kind}`);
  const outcome =
    violations.length === 0 ? `${counters} of ${counters} totals exact` : `${violations.length} VIOLATIONS`;
  const recovery = `all totals right after ${(recoveryMs / 1_000).toFixed(1)} s`;
  return `${faults.join(", ")}: ${acknowledged} increments acknowledged, ${outcome}, ${recovery}`;
}
