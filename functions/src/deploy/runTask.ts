/** Runs a task of any kind. */
import { runAggregationTask } from "../counter/aggregate.ts";
import { attempt } from "../counter/attempts.ts";
import type { CounterTask, TaskKinds } from "../counter/cause.ts";
import type { DeployedBackend } from "../features/backend.ts";
import { itemMerging } from "../features/items/topItems.ts";
import { runMergeTask } from "../features/merge.ts";
import { runExchange } from "../features/regions/exchange.ts";
import { visitorMerging } from "../features/visitors/visitors.ts";

const RUN: { readonly [kind in keyof TaskKinds]: (backend: DeployedBackend, task: CounterTask) => Promise<void> } = {
  poll: runAggregationTask,
  followUp: runAggregationTask,
  mergeVisitors: (backend, task) => runMergeTask(backend, visitorMerging, task),
  mergeItems: (backend, task) => runMergeTask(backend, itemMerging, task),
  exchange: runExchange,
  exchangeVisitors: runExchange,
};

/** @throws only if the next attempt of a task that failed cannot be scheduled */
export async function runTask(backend: DeployedBackend, task: CounterTask): Promise<void> {
  await attempt(backend, task, () => RUN[task.kind](backend, task));
}
