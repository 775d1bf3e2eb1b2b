/**
 * Ingest under fire: instances are killed and answers are lost, senders repeat each request until it is acknowledged, and
 * Pub/Sub delivers each message to several instances, and again. Then the shards hold each event once.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { admin } from "../../testkit/clients.ts";
import { type ServedFunction, serveFunction } from "../../testkit/functionServer.ts";
import { type CuttingProxy, cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

export interface IngestResult {
  /** Events in requests or messages that were acknowledged to their senders. */
  readonly acknowledged: number;
  /** The sum of the shards. */
  readonly counted: number;
  readonly kills: number;
  /** Connections that were broken while answers were under way. */
  readonly cuts: number;
  readonly requests: number;
  readonly seconds: number;
}

const SENDERS = 20;
/** Requests that a sender has under way. */
const PARALLEL = 5;
/** Events of a request, and of a message. */
const BATCH = 10;
const MESSAGE = 100;
const INSTANCES = 3;
const COUNTERS = 5;
const PARAMS = { INGEST_COUNTERS: "/fire:.*/", INGEST_AMOUNT_PER_SECOND: "1000000" };

/** Sends events in requests of ten. @param withIds  whether each request has an id */
export async function fireAtRequests(events: number, withIds: boolean): Promise<IngestResult> {
  return await underFire("ingest", async (instances, batch) => {
    let requests = 0;
    const deliver = async (body: string) => {
      const { proxy } = instances[Math.floor(Math.random() * INSTANCES)] as Instance;
      requests++;
      return await fetch(`http://${proxy.address}`, { method: "POST", body, signal: AbortSignal.timeout(10_000) }).then(
        async (response) => (await response.text()) !== "" && response.ok,
        () => false,
      );
    };
    const send = async () => {
      for (let left = events / SENDERS / PARALLEL; left > 0; left -= BATCH) {
        const body = JSON.stringify({ ...(withIds && { id: randomUUID() }), ...batch(Math.min(BATCH, left)) });
        while (!(await deliver(body))) await sleep(100 * Math.random());
      }
    };
    await Promise.all(Array.from({ length: SENDERS * PARALLEL }, send));
    return requests;
  });
}

/** Publishes events in messages of a hundred, without ids, to a topic with one push subscription for each instance. */
export async function fireAtMessages(events: number): Promise<IngestResult> {
  return await underFire("ingestmessages", async (instances, batch, sum) => {
    const topic = `fire-${randomUUID()}`;
    await pubsub("PUT", `topics/${topic}`, {});
    const project = process.env.GCLOUD_PROJECT;
    for (const [index, { proxy }] of instances.entries()) {
      await pubsub("PUT", `subscriptions/${topic}-${index}`, {
        topic: `projects/${project}/topics/${topic}`,
        pushConfig: { pushEndpoint: `http://${proxy.address}/projects/${project}/topics/${topic}` },
        ackDeadlineSeconds: 10,
      });
    }
    for (let left = events; left > 0; left -= 100 * MESSAGE) {
      const message = () => ({ data: btoa(JSON.stringify(batch(MESSAGE))) });
      await pubsub("POST", `topics/${topic}:publish`, {
        messages: Array.from({ length: Math.min(100, left / MESSAGE) }, message),
      });
    }
    await until(async () => (await sum()) >= events, "all messages to count", 600_000);
    // What counts twice would do so by now.
    await sleep(15_000);
    return events / MESSAGE;
  });
}

/** An instance, and the way to it, which loses answers. */
interface Instance {
  readonly served: ServedFunction;
  readonly proxy: CuttingProxy;
}

/**
 * @param send  sends batches to instances until all are acknowledged, and returns how many requests or messages it has sent.
 *              `batch` makes one of so many events
 */
async function underFire(
  name: "ingest" | "ingestmessages",
  send: (
    instances: readonly Instance[],
    batch: (size: number) => object,
    sum: () => Promise<number>,
  ) => Promise<number>,
): Promise<IngestResult> {
  const run = randomUUID();
  const counters = Array.from({ length: COUNTERS }, (_, index) => `fire:${run} ${index}`);
  const instances = await Promise.all(Array.from({ length: INSTANCES }, () => startInstance(name)));
  let [acknowledged, kills, cuts, isOver] = [0, 0, 0, false];
  const batch = (size: number) => {
    acknowledged += size;
    return { events: Array.from({ length: size }, (_, index) => ({ counter: counters[index % COUNTERS] })) };
  };
  const sum = async () => {
    const shards = await Promise.all(counters.map((id) => admin.collection(`counters/${id}/shards`).get()));
    return shards.flatMap(({ docs }) => docs).reduce((all, shard) => all + shard.get("count"), 0);
  };

  /** Every one to three seconds: answers are lost, and every other time the process is killed in the middle of its work. */
  async function harass({ served, proxy }: Instance): Promise<void> {
    while (!isOver) {
      await sleep(1_000 + 2_000 * Math.random());
      proxy.withhold();
      await sleep(300);
      const isKilled = Math.random() < 0.5;
      if (isKilled) await served.kill();
      cuts += proxy.cut();
      if (!isKilled) continue;
      kills++;
      await served.start();
    }
  }

  const start = performance.now();
  const harassing = Promise.all(instances.map(harass));
  const requests = await send(instances, batch, sum);
  const seconds = (performance.now() - start) / 1_000;
  isOver = true;
  await harassing;
  for (const { served, proxy } of instances) {
    await served.kill();
    await proxy.close();
  }
  return { acknowledged, counted: await sum(), kills, cuts, requests, seconds };
}

async function startInstance(name: "ingest" | "ingestmessages"): Promise<Instance> {
  const served = await serveFunction(name, PARAMS);
  return { served, proxy: await cuttingProxy(new URL(served.url).host) };
}

async function pubsub(method: string, path: string, body: object): Promise<void> {
  const { PUBSUB_EMULATOR_HOST, GCLOUD_PROJECT } = process.env;
  const url = `http://${PUBSUB_EMULATOR_HOST}/v1/projects/${GCLOUD_PROJECT}/${path}`;
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}
