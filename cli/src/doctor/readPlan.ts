/**
 * How Firestore sums the shards of a counter: Query Explain runs the functions' own query, and tells the index and the reads
 * (https://firebase.google.com/docs/firestore/reference/query-explain-report-reference). The emulator has no planner.
 */

import { codeOf, FAILED_PRECONDITION, SHARDS } from "../../../core/src/index.ts";
import { indexedSums } from "../../../firestore/src/index.ts";
import type { CommandContext } from "../commandContext.ts";
import type { CounterSample } from "./counterFacts.ts";
import type { QueryPlan } from "./facts.ts";
import { standIn } from "./googleApis.ts";
import { perThousand, type ReadMeter } from "./readMeter.ts";

/** Cost: 1 read per 1,000 shards of the sampled counter that has the most. @throws Error if nothing can be explained */
export async function readPlan(
  { firestore, target }: CommandContext,
  sample: CounterSample | undefined,
  meter: ReadMeter,
): Promise<QueryPlan> {
  if (target.emulator !== null && !standIn()) throw new Error("the emulator explains no queries");
  const [largest] = (sample?.counters ?? []).toSorted((a, b) => b.documents - a.documents);
  if (!largest || largest.documents === 0) throw new Error("no counter with shards was found");
  const { id, documents } = largest;
  try {
    const sums = indexedSums(firestore.collection(`${target.collection}/${id}/${SHARDS}`));
    const { planSummary, executionStats } = (await sums.explain({ analyze: true })).metrics;
    meter.reads += executionStats?.readOperations ?? perThousand(documents);
    return {
      counter: id,
      documents,
      used: {
        indexes: planSummary.indexesUsed.map((index) => String(index.properties)),
        reads: executionStats?.readOperations ?? 0,
      },
    };
  } catch (error) {
    if (codeOf(error) === FAILED_PRECONDITION) return { counter: id, documents, used: null };
    throw error;
  }
}
