/** Runs a task of any kind: an aggregation, a merge or an exchange. */
import { runAggregationTask } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { CounterTask } from "./cause.ts";
import { runMergeTask } from "./merge.ts";
import { runExchange } from "./regions/exchange.ts";
import { itemMerging } from "./topItems.ts";
import { visitorMerging } from "./visitors.ts";

export function runTask(backend: Backend, task: CounterTask): Promise<void> {
  if (task.exchange) return runExchange(backend, task);
  if (!task.merges) return runAggregationTask(backend, task);
  return runMergeTask(backend, task.merges === "items" ? itemMerging : visitorMerging, task);
}
