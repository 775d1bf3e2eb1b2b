/** Runs a task of any kind: an aggregation, a merge or an exchange. */
import { runAggregationTask } from "../counter/aggregate.ts";
import type { CounterTask } from "../counter/cause.ts";
import type { DeployedBackend } from "../features/backend.ts";
import { itemMerging } from "../features/items/topItems.ts";
import { runMergeTask } from "../features/merge.ts";
import { runExchange } from "../features/regions/exchange.ts";
import { visitorMerging } from "../features/visitors/visitors.ts";

export function runTask(backend: DeployedBackend, task: CounterTask): Promise<void> {
  if (task.exchange) return runExchange(backend, task);
  if (!task.merges) return runAggregationTask(backend, task);
  return runMergeTask(backend, task.merges === "items" ? itemMerging : visitorMerging, task);
}
