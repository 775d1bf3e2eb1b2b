/**
 * The deployed functions. An extension's manifest knows task queues and schedules of the 1st generation only, so there the
 * same handlers are wrapped for it.
 */
import type { DocumentReference, DocumentSnapshot } from "firebase-admin/firestore";
import { expr } from "firebase-functions/params";
import * as v1 from "firebase-functions/v1";
import { onDocumentCreated, onDocumentDeleted, onDocumentUpdated } from "firebase-functions/v2/firestore";
import { onSchedule } from "firebase-functions/v2/scheduler";
import { onTaskDispatched } from "firebase-functions/v2/tasks";
import { counterIdOf } from "../../core/src/index.ts";
import { runTask } from "./aggregate.ts";
import { type Backend, createBackend } from "./backend.ts";
import { type Millis, params } from "./config.ts";
import { toMillis } from "./counterDocument.ts";
import { logError } from "./log.ts";
import type { AggregationTask } from "./queue.ts";
import { sweep as runSweep } from "./sweep.ts";
import { createWake, deletedBy } from "./wake.ts";

let instance: { backend: Backend; wake: ReturnType<typeof createWake> } | undefined;

/** Made by the first event: parameters have no values at import time, and `onInit` passes 1st generation tasks by. */
function running() {
  if (!instance) {
    const backend = createBackend(runTask);
    instance = { backend, wake: createWake(backend) };
  }
  return instance;
}

const isExtension = process.env.EXT_INSTANCE_ID !== undefined;

/**
 * Events, or tasks, that an instance handles at a time. One that lists 10,000 shards takes some 10 MB, and 20 of them fit
 * the memory beside Node.js and the SDK; the platform's default of 80 would not. An extension's instances handle one each.
 */
const concurrency = 20;

/** An extension's are in `extension.yaml`, or the Extensions service's. An empty account and 0 instances are defaults. */
const options = {
  region: params.location,
  memory: "512MiB",
  concurrency,
  serviceAccount: params.serviceAccount,
  maxInstances: params.maxInstances,
} as const;

/** Events are retried for up to a day. Shard deletions need no trigger: a fold has moved the count to `base`. */
const retried = { ...options, database: params.database, retry: true } as const;

export const wake = onDocumentCreated(
  { document: expr`${params.collection}/{counterId}/shards/{shardId}`, ...retried },
  ({ data }) => wakeUp(data, true),
);
export const wakezero = onDocumentUpdated(
  { document: expr`${params.collection}/{counterId}/shards/0`, ...retried },
  ({ data }) => wakeUp(data?.after, false, data?.before),
);
export const wakebase = onDocumentUpdated(
  { document: expr`${params.collection}/{counterId}/shards/base`, ...retried },
  ({ data }) => wakeUp(data?.after, false, data?.before),
);

async function wakeUp(
  snapshot: DocumentSnapshot | undefined,
  isNew: boolean,
  before?: DocumentSnapshot,
): Promise<void> {
  if (!snapshot?.updateTime) return;
  // Old marks were removed, which changes nothing that is counted.
  if (before && ["count", "writes"].every((field) => before.get(field) === snapshot.get(field))) return;
  // Not the event's parameters: those are decoded as if they were a URL's, and an id may hold "%2F" or "é".
  const { id: shardId, parent: shards } = snapshot.ref;
  const counterId = (shards.parent as DocumentReference).id;
  await running().wake({ counterId, shardId, isNew, committedAt: toMillis(snapshot.updateTime) });
}

/** Creations and deletions alone: an update of a counted document costs nothing. */
const counted = { document: expr`${params.countedCollection}/{document}`, ...retried } as const;

export const created = onDocumentCreated(counted, async ({ data }) => {
  if (data) await recount(data.ref, toMillis(data.updateTime));
});

export const deleted = onDocumentDeleted(counted, async ({ data, time }) => {
  if (data) await recount(data.ref, deletedBy(time, running().backend.now()));
});

async function recount({ parent: collection }: DocumentReference, committedAt: Millis): Promise<void> {
  const { backend, wake } = running();
  const counterId = counterIdOf(collection.path, backend.config.counted);
  if (counterId !== undefined) return await wake({ counterId, committedAt });
  logError("cannot count this collection: its counter would have no id of its own", { collection: collection.path });
}

function dispatched(task: AggregationTask): Promise<void> {
  const { backend } = running();
  return backend.takeOver && backend.now() < task.due ? backend.takeOver(task) : runTask(backend, task);
}

/** About a day, as the retries of an event. */
const retryConfig = { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 900 };
/** The limit of Cloud Tasks: 500 dispatches a second per queue. At about a second each, 25 instances suffice. */
const rateLimits = { maxConcurrentDispatches: 500, maxDispatchesPerSecond: 500 };
const schedule = "every 5 minutes";

export const aggregate = isExtension
  ? v1.tasks.taskQueue({ retryConfig, rateLimits }).onDispatch(dispatched)
  : onTaskDispatched<AggregationTask>({ ...options, retryConfig, rateLimits }, ({ data }) => dispatched(data));

export const sweep = isExtension
  ? v1.pubsub.schedule(schedule).onRun(() => runSweep(running().backend))
  : onSchedule({ ...options, schedule, timeoutSeconds: 540 }, () => runSweep(running().backend));
