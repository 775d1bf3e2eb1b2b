/**
 * The functions and what triggers them. A counter needs five of them; each other is deployed only if its feature is on (`omit`).
 *
 * An extension has all of them, because its manifest lists them. The manifest supports task queues and schedules of the 1st generation
 * only, so there the same handlers are wrapped for it.
 */
import type { DocumentReference, DocumentSnapshot, QueryDocumentSnapshot } from "firebase-admin/firestore";
import { type Expression, expr } from "firebase-functions/params";
import {
  onDocumentCreated,
  onDocumentDeleted,
  onDocumentUpdated,
  onDocumentWritten,
} from "firebase-functions/v2/firestore";
import { LEGACY_SHARDS } from "../../../admin/src/internal.ts";
import { NO_COUNTED_COLLECTION } from "../../../core/src/index.ts";
import type { CounterTask } from "../counter/cause.ts";
import { TRIGGER_SHARDS } from "../counter/shards.ts";
import { type Millis, toMillis } from "../counter/time.ts";
import { createWakeHandler, hasCounted } from "../counter/wake.ts";
import { runSweep } from "../deploy/runSweep.ts";
import type { DeployedBackend } from "../features/backend.ts";
import { createBridgeHandler } from "../features/bridge/bridge.ts";
import { collectionEvent, latestDeletionTime } from "../features/collections/events.ts";
import { itemMerging } from "../features/items/topItems.ts";
import { createMergeHandler } from "../features/merge.ts";
import { visitorMerging } from "../features/visitors/visitors.ts";
import { publisher, publishOutbox, recordOfEntry } from "../ingest/eventLog.ts";
import { createHttpIngest, createMessageIngest } from "../ingest/index.ts";
import { keepBodies } from "../ingest/requestBody.ts";
import { createHttpTotals } from "../totals/index.ts";
import { createBackend } from "./backend.ts";
import { defineWhereRun, sdk } from "./coldStart.ts";
import { onDiscovery } from "./discovery.ts";
import { functionOptions, minInstances } from "./functionOptions.ts";
import { packaging } from "./packaging.ts";
import { deployedIngestConfig, params } from "./parameters.ts";
import { NO_TOPIC } from "./parseConfig.ts";
import { runTask } from "./runTask.ts";

type HttpIngest = ReturnType<typeof createHttpIngest>;
type HttpTotals = ReturnType<typeof createHttpTotals>;
let backend: DeployedBackend | undefined;

/** Created at the first use. Parameters have no values at import time, and `onInit` does not run for 1st generation tasks. */
function getBackend(): DeployedBackend {
  backend ??= createBackend(runTask);
  return backend;
}

/** A part of this instance, created at the first use: an invalid parameter of one function does not stop the others. */
function lazily<T>(create: (backend: DeployedBackend) => T): () => T {
  let created: T | undefined;
  return () => {
    created ??= create(getBackend());
    return created;
  };
}

const writeHandler = lazily(createWakeHandler);
const legacyWriteHandler = lazily(createBridgeHandler);
const visitorHandler = lazily((backend) => createMergeHandler(backend, visitorMerging));
const itemHandler = lazily((backend) => createMergeHandler(backend, itemMerging));

const isExtension = packaging() === "extension";

onDiscovery(process.env);
const options = functionOptions();

/** Events are retried for up to a day. The deletion of a shard needs no trigger: the fold has written its count to `base`. */
const retried = { ...options, database: params.database, retry: true } as const;

/** The functions that each increment passes on its way to a total have `MIN_INSTANCES`. */
const onTheWay = { ...options, minInstances: minInstances() } as const;
const retriedOnTheWay = { ...retried, ...onTheWay } as const;

export const shardcreated = onDocumentCreated(
  { document: expr`${params.collection}/{counterId}/shards/{shardId}`, ...retriedOnTheWay },
  ({ data }) => shardWritten(data),
);
export const shardzeroupdated = onDocumentUpdated(
  { document: expr`${params.collection}/{counterId}/shards/0`, ...retriedOnTheWay },
  ({ data }) => shardWritten(data?.after, data?.before),
);
export const baseupdated = onDocumentUpdated(
  { document: expr`${params.collection}/{counterId}/shards/base`, ...retriedOnTheWay },
  ({ data }) => shardWritten(data?.after, data?.before),
);

/** Updates of all other shards, which are silent without it: old clients of adopted counters write them. */
export const shardupdated = onDocumentUpdated(
  {
    document: expr`${params.collection}/{counterId}/shards/{shardId}`,
    omit: params.adopted.equals("no"),
    ...retried,
  },
  async ({ data }) => {
    if (data && !TRIGGER_SHARDS.includes(data.after.id)) await shardWritten(data.after, data.before);
  },
);

/** @param before  the shard before an update; a new shard has none */
async function shardWritten(snapshot?: DocumentSnapshot, before?: DocumentSnapshot): Promise<void> {
  if (!snapshot?.updateTime) return;
  if (before && !hasCounted(before, snapshot)) return;
  // Not from the event's parameters, which are decoded as if they were a URL's: an id may contain "%2F" or "é".
  const { id: shardId, parent: shards } = snapshot.ref;
  const counterId = (shards.parent as DocumentReference).id;
  const committedAt = toMillis(snapshot.updateTime);
  await writeHandler()({ counterId, shardId, isNew: before === undefined, committedAt });
}

/** Creations and deletions alone: an update of a counted document costs nothing. */
const counted = {
  document: expr`${params.countedCollection}/{document}`,
  omit: params.countedCollection.equals(NO_COUNTED_COLLECTION),
  ...retried,
} as const;

export const documentcreated = onDocumentCreated(counted, async ({ data }) => {
  if (data) await countedDocumentChanged(data.ref, toMillis(data.updateTime));
});

export const documentdeleted = onDocumentDeleted(counted, async ({ data, time }) => {
  if (data) await countedDocumentChanged(data.ref, latestDeletionTime(time, getBackend().now()));
});

async function countedDocumentChanged({ parent: collection }: DocumentReference, committedAt: Millis): Promise<void> {
  const event = collectionEvent(collection.path, committedAt, getBackend().config.counted);
  if (event) await writeHandler()(event);
}

/** Moves increments of Google's extension into counters. Ignores deletions: the write before has triggered the move. */
export const legacyshardwritten = onDocumentWritten(
  { document: `{document=**}/${LEGACY_SHARDS}/{shardId}`, omit: params.bridge.equals(""), ...retried },
  async ({ data }) => {
    if (!data?.after.updateTime) return;
    const document = data.after.ref.parent.parent as DocumentReference;
    const committedAt = toMillis(data.after.updateTime);
    await legacyWriteHandler()({ document: document.path, committedAt });
  },
);

/** Merges new visitors. Ignores deletions, which merges make. */
export const mergevisitors = onDocumentWritten(
  {
    document: expr`${params.collection}/{counterId}/tallyVisitors/{bucket}`,
    omit: params.visitors.equals("no"),
    ...retried,
  },
  async ({ data }) => {
    if (!data?.after.updateTime) return;
    const { id: counterId } = data.after.ref.parent.parent as DocumentReference;
    await visitorHandler()({ counterId, committedAt: toMillis(data.after.updateTime) });
  },
);

/** Merges new items. */
export const mergeitems = onDocumentCreated(
  {
    document: expr`${params.collection}/{counterId}/tallyItemCounts/{id}`,
    omit: params.items.equals("no"),
    ...retried,
  },
  async ({ data }) => {
    if (!data) return;
    const { id: counterId } = data.ref.parent.parent as DocumentReference;
    await itemHandler()({ counterId, committedAt: toMillis(data.updateTime) });
  },
);

/** `ingest` reads bodies itself, and `totals` needs none: before them the server must not unpack a body, however large. */
if (/\b(ingest|totals)$/.test(process.env.FUNCTION_TARGET ?? "")) keepBodies();

const httpIngest = lazily((backend) => createHttpIngest(backend, deployedIngestConfig(), isLogged()));
const receiveRequest: HttpIngest = (request, response) => httpIngest()(request, response);
const messageIngest = lazily((backend) => createMessageIngest(backend, isLogged()));
/** A message may have no data. */
const receiveMessage = (id: string, base64 = "") =>
  messageIngest()({ id, data: Buffer.from(base64, "base64").toString() });

export const ingest = defineWhereRun("ingest", () => onPublicRequest(params.ingestCounters, receiveRequest));

export const ingestmessages = defineWhereRun("ingestmessages", () =>
  isExtension
    ? sdk("v1/pubsub")
        .topic(params.ingestTopic)
        .onPublish(({ data }, { eventId }) => receiveMessage(eventId, data))
    : sdk("v2/pubsub").onMessagePublished<string>(
        {
          ...options,
          omit: params.ingestTopic.equals(NO_TOPIC),
          concurrency: 200,
          topic: params.ingestTopic,
          retry: true,
        },
        ({ data: { message } }) => receiveMessage(message.messageId, message.data),
      ),
);

const publish = lazily(() => publisher(params.eventsTopic.value()));

/** Publishes the events that ingest has counted. */
export const logevents = onDocumentCreated(
  {
    document: expr`${params.collection}/{counterId}/tallyOutbox/{id}`,
    omit: params.eventsTopic.equals(""),
    ...retried,
  },
  async ({ data }) => {
    if (data) await publishOutbox(data, publish());
  },
);

export const logincrements = onDocumentWritten(
  {
    document: expr`${params.eventsCollection}/{counterId}/tallyEntries/{once}`,
    omit: params.eventsCollection.equals(NO_COUNTED_COLLECTION),
    ...retried,
  },
  async ({ data, time }) => {
    const { before, after } = data ?? {};
    if (!isLogged() || before?.exists === after?.exists) return;
    const [entry, kind] = after?.exists ? [after, "created" as const] : [before, "deleted" as const];
    await publish()([recordOfEntry(entry as QueryDocumentSnapshot, kind, time)]);
  },
);

function isLogged(): boolean {
  return params.eventsTopic.value() !== "";
}

const httpTotals = lazily(createHttpTotals);
const showTotals: HttpTotals = (request, response) => httpTotals()(request, response);

export const totals = defineWhereRun("totals", () => onPublicRequest(params.totalsCounters, showTotals));

/**
 * Many requests at a time, so that they share commits and reads. The 1st generation has one at a time.
 *
 * @param counters  the parameter that asks for the function
 */
function onPublicRequest(counters: typeof params.ingestCounters, handle: HttpIngest | HttpTotals) {
  const asked = { omit: counters.equals(""), concurrency: 200, invoker: "public" } as const;
  return isExtension ? sdk("v1/https").onRequest(handle) : sdk("v2/https").onRequest({ ...options, ...asked }, handle);
}

function runDispatched(task: CounterTask): Promise<void> {
  const backend = getBackend();
  return backend.runByTimer && backend.now() < task.due ? backend.runByTimer(task) : runTask(backend, task);
}

/** Retries for about a day, like those of an event. Few tasks need one: those that fail schedule their next attempt themselves. */
const retryConfig = { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 900 };
/** Cloud Tasks allows 500 dispatches a second per queue. Ten instances, as many as there are by default, run 200 tasks at a time. */
const rateLimits = { maxConcurrentDispatches: 200, maxDispatchesPerSecond: 500 };
const schedule = "every 5 minutes";
const sweepOnce = () => runSweep(getBackend(), isLogged() ? publish() : undefined);

/** @param omit  when the queue is not needed */
function taskQueue(name: "aggregate" | "merge" | "exchange", own: object, omit: boolean | Expression<boolean> = false) {
  return defineWhereRun(name, () =>
    isExtension
      ? sdk("v1/tasks").taskQueue({ retryConfig, rateLimits }).onDispatch(runDispatched)
      : sdk("v2/tasks").onTaskDispatched({ ...own, omit, retryConfig, rateLimits }, ({ data }) => runDispatched(data)),
  );
}

export const aggregate = taskQueue("aggregate", onTheWay);
const hasNoItems = params.items.equals("no").thenElse(true, false);
export const merge = taskQueue("merge", options, params.visitors.equals("no").thenElse(hasNoItems, false));
export const exchange = taskQueue("exchange", options, params.regions.equals(""));

export const sweep = defineWhereRun("sweep", () =>
  isExtension
    ? sdk("v1/pubsub").schedule(schedule).onRun(sweepOnce)
    : sdk("v2/scheduler").onSchedule({ ...options, schedule, timeoutSeconds: 540 }, sweepOnce),
);
