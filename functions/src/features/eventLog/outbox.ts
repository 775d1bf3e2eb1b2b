/**
 * The event log: what was counted, one record for each event, published to the Pub/Sub topic `EVENTS_TOPIC`.
 *
 * Records of ingest are written to an outbox in the very commit that counts the events, and published from there; those of
 * entries are made from the events of Firestore. Both are repeated until they succeed. So the log has a record of all that was
 * counted, and of nothing else. A record may be published twice, with the same `id`, and the order is undefined. The sum of `by`
 * over the different ids of a counter is its total, if nothing else has counted in it.
 */
import { randomUUID } from "node:crypto";
import type { Firestore, QueryDocumentSnapshot, WriteBatch } from "firebase-admin/firestore";
import { counterPath, OUTBOX } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { handleLost, isLost } from "../../shared/handleLost.ts";

/** Version 1 of a record: the data of a message, as JSON. `ops/eventLog.json` has it as a table of BigQuery. */
export interface LogRecord {
  readonly version: 1;
  /** Unique to what has happened, and the same when the record is published again. */
  readonly id: string;
  /** An event of ingest; or the entry of an increment with `once`, such as a like, was created or deleted. */
  readonly kind: "event" | "created" | "deleted";
  /** The id of the counter. */
  readonly counter: string;
  /** What was added to the counter. */
  readonly by: number;
  /** What the increment counts once for, for likes the user's uid. */
  readonly once?: string | undefined;
  /** What the event was about. */
  readonly item?: string | undefined;
  readonly visitor?: string | undefined;
  /** When it counted, ISO 8601: by the clock of the instance for events, by Firestore's for entries. */
  readonly at: string;
  /** When the event happened, by the sender's clock. */
  readonly sentAt?: string | undefined;
}

/** An event of ingest, as far as its record has it. `at` is when it happened, by the sender's clock. */
export interface LoggedEvent extends Pick<LogRecord, "counter" | "by" | "visitor" | "item"> {
  readonly at?: string | undefined;
}

/** `counters/{id}/tallyOutbox/{random id}`. Created with the events' increments, deleted when the records are published. */
interface OutboxDocument {
  /** JSON of {@link LogRecord}s. */
  readonly records: string;
}

/**
 * The size of an outbox document. Its event has 512 KB at most, JSON in base64 included
 * (https://cloud.google.com/eventarc/docs/quotas).
 */
export const MAX_OUTBOX_BYTES = 300_000;

/** Publishes records; resolves when Pub/Sub has them. */
export type SendRecords = (records: readonly LogRecord[]) => Promise<void>;

/** Publishes to a topic. The client is loaded by the first call. */
export function sender(topic: string): SendRecords {
  let loading: Promise<{ publish(record: LogRecord): Promise<string> }> | undefined;
  const load = async () => {
    const { PubSub } = await import("@google-cloud/pubsub");
    const client = new PubSub().topic(topic);
    return {
      // Subscriptions can filter by attributes. An id may be longer than an attribute can be.
      publish: (record: LogRecord) => client.publishMessage({ json: record, attributes: { kind: record.kind } }),
    };
  };
  return async (records) => {
    loading ??= load();
    const client = await loading;
    await Promise.all(records.map((record) => client.publish(record)));
  };
}

/**
 * Adds the records of events to the commit that counts them. Cost: 1 write for some 1,500 events; later 1 delete.
 *
 * @param collection  that of the counters
 */
export function addToOutbox(
  batch: WriteBatch,
  firestore: Firestore,
  collection: string,
  events: readonly LoggedEvent[],
): void {
  const [first] = events;
  if (!first) return;
  const at = new Date().toISOString();
  const outbox = firestore.collection(`${counterPath(collection, first.counter)}/${OUTBOX}`);
  let records: string[] = [];
  let bytes = 0;
  const write = () => {
    if (records.length > 0) batch.create(outbox.doc(), { records: `[${records}]` } satisfies OutboxDocument);
    records = [];
    bytes = 0;
  };
  for (const { counter, by, visitor, item, at: sentAt } of events) {
    const id = randomUUID();
    // JSON leaves out what is undefined.
    const record: LogRecord = { version: 1, id, kind: "event", counter, by, item, visitor, at, sentAt };
    const json = JSON.stringify(record);
    const size = Buffer.byteLength(json);
    if (bytes + size > MAX_OUTBOX_BYTES) write();
    records.push(json);
    bytes += size;
  }
  write();
}

/** Publishes what an outbox document holds, then deletes it. */
export async function publishOutbox(document: QueryDocumentSnapshot, send: SendRecords): Promise<void> {
  await send(JSON.parse(document.get("records")));
  await document.ref.delete();
}

/** How many documents of a counter the sweep publishes at most: some 6 MB. */
const MAX_PUBLISHED = 20;

/**
 * For the sweep: publishes what lost events have left. A document that is not lost may hide it from one sweep, not from all: names are
 * random, and such a document is soon published. Cost: that of {@link handleLost}, and 1 read and 1 delete per document.
 */
export function publishLost(backend: Backend, send: SendRecords): Promise<void> {
  return handleLost(backend, backend.counters, OUTBOX, async (counter) => {
    const { docs } = await counter.collection(OUTBOX).limit(MAX_PUBLISHED).get();
    await Promise.all(
      docs.filter((document) => isLost(document, backend.now())).map((document) => publishOutbox(document, send)),
    );
    return true;
  });
}

/** The record of an entry that was created or deleted at `at`. Entries are not updated. */
export function recordOfEntry(entry: QueryDocumentSnapshot, kind: "created" | "deleted", at: string): LogRecord {
  const counter = entry.ref.parent.parent?.id as string;
  const by = Number(entry.get("by"));
  return {
    version: 1,
    // An entry that is created again has another time of creation.
    id: `${kind} ${counter}/${entry.id} ${entry.createTime.seconds}.${entry.createTime.nanoseconds}`,
    kind,
    counter,
    by: kind === "created" ? by : -by,
    once: entry.id,
    at,
  };
}
