/** Events by HTTP, by Pub/Sub and by likes, through the deployed functions to their totals, and to the log of each of them. */
import { randomUUID } from "node:crypto";
import { counter, incrementCounter, undoIncrement } from "firestore-tally";
import { incrementCounter as incrementOnServer, counter as serverCounter } from "firestore-tally/admin";
import { beforeAll, expect, test } from "vitest";
import type { LogRecord } from "../../functions/src/features/eventLog/outbox.ts";
import { admin, adminAt, client, signIn } from "../../testkit/clients.ts";
import { functionUrl } from "../../testkit/deployedFunctions.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const { PUBSUB_EMULATOR_HOST, GCLOUD_PROJECT, FIRESTORE_EMULATOR_HOST = "" } = process.env;
const LOG = "tally-log";
const SUBSCRIPTION = "tally-log-of-test";

async function pubsub(path: string, body: object, method = "POST") {
  const response = await fetch(`http://${PUBSUB_EMULATOR_HOST}/v1/projects/${GCLOUD_PROJECT}/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

const records = new Map<string, LogRecord>();

/** Takes what is in the log by now. */
async function pull(): Promise<void> {
  const { receivedMessages = [] } = await pubsub(`subscriptions/${SUBSCRIPTION}:pull`, {
    maxMessages: 1_000,
    returnImmediately: true,
  });
  for (const { ackId, message } of receivedMessages) {
    const record: LogRecord = JSON.parse(Buffer.from(message.data, "base64").toString());
    expect(message.attributes).toEqual({ kind: record.kind });
    records.set(record.id, record);
    await pubsub(`subscriptions/${SUBSCRIPTION}:acknowledge`, { ackIds: [ackId] });
  }
}

const send = (batch: object) => fetch(functionUrl("ingest"), { method: "POST", body: JSON.stringify(batch) });
const publish = (batch: object) =>
  pubsub("topics/tally-events:publish", { messages: [{ data: btoa(JSON.stringify(batch)) }] });
const sumOfRecords = (id: string) =>
  [...records.values()].filter((record) => record.counter === id).reduce((sum, { by }) => sum + by, 0);

beforeAll(async () => {
  await pubsub(`topics/${LOG}`, {}, "PUT");
  await pubsub(`subscriptions/${SUBSCRIPTION}`, { topic: `projects/${GCLOUD_PROJECT}/topics/${LOG}` }, "PUT");
});

test("all that was counted is in the log, and replaying the log gives the same totals", {
  timeout: 120_000,
}, async () => {
  const [byRequest, byMessage, likes] = ["ingested:http", "ingested:topic", "likes:logged"];
  const batches = Array.from({ length: 20 }, (_, index) => ({
    id: randomUUID(),
    events: [{ counter: byRequest, by: index + 1, visitor: `visitor ${index}`, at: "2027-01-31T12:00:00Z" }],
  }));
  for (const batch of [...batches, ...batches.slice(0, 5)]) expect((await send(batch)).status).toBe(200);
  for (let n = 0; n < 5; n++) await publish({ events: [{ counter: byMessage, by: 100 }, { counter: byRequest }] });
  const users = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const user = client();
      const once = await signIn(user);
      await incrementCounter(counter(user.db, likes), 1, { once });
      return { user, once };
    }),
  );
  await Promise.all(users.slice(0, 2).map(({ user, once }) => undoIncrement(counter(user.db, likes), once)));

  const totals: Record<string, number> = { [byRequest]: 215, [byMessage]: 500, [likes]: 4 };
  for (const [id, total] of Object.entries(totals)) {
    await until(async () => (await readPublished(id))?.total === total, `the total of ${id}`);
    await until(async () => {
      await pull();
      return sumOfRecords(id) === total;
    }, `the records of ${id}`);
  }
  await until(
    async () => (await admin.collectionGroup("tallyOutbox").count().get()).data().count === 0,
    "the outbox to be empty",
  );
  await pull();

  const empty = adminAt(FIRESTORE_EMULATOR_HOST, "demo-replay");
  for (const { id, counter: name, by } of records.values()) {
    if (!(name in totals)) continue;
    const once = id.replaceAll("/", " ");
    await incrementOnServer(serverCounter(empty.firestore, name), by, { once });
  }
  for (const [id, total] of Object.entries(totals)) {
    const { docs } = await empty.firestore.collection(`counters/${id}/shards`).get();
    expect(docs.reduce((sum, shard) => sum + shard.get("count"), 0)).toBe(total);
  }
  const kinds = [...records.values()].filter(({ counter: id }) => id === likes).map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual([...Array(6).fill("created"), ...Array(2).fill("deleted")]);
  const sent = [...records.values()].find(({ visitor }) => visitor === "visitor 7");
  expect(sent).toMatchObject({ version: 1, kind: "event", by: 8, sentAt: "2027-01-31T12:00:00.000Z" });
  await empty.close();
  await Promise.all(users.map(({ user }) => user.close()));
});
