/**
 * A proxy between the emulators and the functions, which delivers events and tasks as production does, with faults.
 *
 * Events: the Firestore emulator sends each event once and never repeats it. Production delivers at least once, in no
 * order, with retries (`testkit/production`). So the proxy accepts each event at once, keeps it, and delivers it until a
 * function has handled it. Its backoff is shorter than production's 10 s and more. It loses events that are too large.
 *
 * Tasks: the Tasks emulator retries as production does, by the queue's `retryConfig`. So the proxy forwards each
 * dispatch and returns its outcome. The emulator ignores the schedule time, so the proxy holds each task until then.
 */
import { once } from "node:events";
import { Agent, createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFor } from "../../core/testing/random.ts";
import { isEventLost } from "../../testkit/production/events.ts";
import { creationOutcome } from "../../testkit/production/tasks.ts";

/** The probability of each fault, and the longest delay. */
export interface DeliveryFaults {
  /** The delivery does not arrive. The sender retries later. */
  lost: number;
  /** The delivery is handled, but its answer is lost, so the sender retries. */
  answerLost: number;
  /** The delivery arrives twice, at independent times. */
  duplicated: number;
  /** A call that schedules a task fails, in half of the cases after the task was accepted. */
  enqueueFailed: number;
  /** The longest delay. Each delivery has a random one, so deliveries overtake each other. */
  maxDelayMs: number;
}

export const NO_FAULTS: DeliveryFaults = { lost: 0, answerLost: 0, duplicated: 0, enqueueFailed: 0, maxDelayMs: 0 };

/** How many faults were injected so far. */
export interface InjectedDeliveryFaults {
  lost: number;
  answersLost: number;
  duplicated: number;
  enqueueFailed: number;
}

export interface Delivery {
  /** `host:port` to send to. */
  readonly address: string;
  readonly injected: InjectedDeliveryFaults;
  faults: DeliveryFaults;
  /** Tasks, or events with their duplicates, that are accepted and not handled yet. */
  pending(): number;
  /** Deliveries that were handled so far, whether or not the sender has learnt it. */
  handled(): number;
  stop(): Promise<void>;
}

/**
 * How long a function may take to answer on an idle machine. The emulator never answers when an instance dies while it starts, so the
 * proxy retries after this time; production retries at once. A shorter time would start a further instance with each retry, and
 * the machine would do nothing else.
 */
const TIMEOUT_MS = 20_000;

/** The longest pause before an event is delivered again. */
const MAX_BACKOFF_MS = 1_000;

/**
 * Concurrent events, and concurrent tasks, on an idle machine: the emulator runs a process for each. Production's instances take 80
 * each.
 */
const CONCURRENCY = 4;

interface Message {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * @param functions  `host:port` of the functions
 * @param slow       how slow the machine is: see `slowness`
 */
export async function deliverEvents(functions: string, slow: number): Promise<Delivery> {
  const { post, handled, stop } = forwarder(functions, Math.max(CONCURRENCY / slow, 2), TIMEOUT_MS * slow);
  let pending = 0;
  let closed = false;
  const server = await serve((message, answer) => {
    answer(200);
    if (isEventLost(message.body.length)) return console.warn(`an event of ${message.body.length} bytes is lost`);
    const isDuplicated = happens(delivery.faults.duplicated);
    if (isDuplicated) delivery.injected.duplicated++;
    for (let copies = isDuplicated ? 2 : 1; copies > 0; copies--) void deliver(message);
  });
  const delivery = {
    address: addressOf(server),
    injected: { lost: 0, answersLost: 0, duplicated: 0, enqueueFailed: 0 },
    faults: NO_FAULTS,
    pending: () => pending,
    handled,
    async stop() {
      closed = true;
      stop();
      server.close();
      server.closeAllConnections();
    },
  };
  return delivery;

  async function deliver(message: Message): Promise<void> {
    pending++;
    while (!closed && !(await attempt(delivery, message, post))) await sleep(Math.random() * MAX_BACKOFF_MS);
    pending--;
  }
}

/**
 * @param tasks      `host:port` of the Tasks emulator. The proxy also receives the dispatch of each task it enqueues
 * @param functions  `host:port` of the functions
 * @param slow       how slow the machine is: see `slowness`
 */
export async function deliverTasks(tasks: string, functions: string, slow: number): Promise<Delivery> {
  const queue = forwarder(tasks, Number.POSITIVE_INFINITY, TIMEOUT_MS);
  const { post, handled, stop } = forwarder(functions, Math.max(CONCURRENCY / slow, 2), TIMEOUT_MS * slow);
  const waiting = new Set<string>();
  const random = randomFor(Date.now(), "tasks");
  const server = await serve(async (message, answer) => {
    const location = /^\/projects\/(.+)\/locations\/(.+)\/queues\/(.+)\/tasks$/.exec(message.path);
    if (location) {
      const [, project, region, name] = location;
      const body = JSON.parse(message.body.toString());
      body.task.httpRequest.url = `http://${delivery.address}/${project}/${region}/${name}`;
      const outcome = creationOutcome(random, delivery.faults.enqueueFailed, () => true);
      if (outcome !== "created") delivery.injected.enqueueFailed++;
      if (outcome === "failed") return answer(500);
      const { status, body: answered } = await queue.post({ ...message, body: Buffer.from(JSON.stringify(body)) });
      if (status < 300) waiting.add(body.task.name.split("/").pop());
      return outcome === "created" ? answer(status, answered) : answer(500);
    }
    await sleep(Math.max(Date.parse(`${message.headers["x-cloudtasks-tasketa"]}`) - Date.now(), 0));
    if (happens(delivery.faults.duplicated)) {
      delivery.injected.duplicated++;
      void attempt(delivery, message, post);
    }
    const isAcknowledged = await attempt(delivery, message, post);
    if (isAcknowledged) waiting.delete(`${message.headers["x-cloudtasks-taskname"]}`);
    answer(isAcknowledged ? 200 : 503);
  });
  const delivery = {
    address: addressOf(server),
    injected: { lost: 0, answersLost: 0, duplicated: 0, enqueueFailed: 0 },
    faults: NO_FAULTS,
    pending: () => waiting.size,
    handled,
    async stop() {
      stop();
      queue.stop();
      server.close();
      server.closeAllConnections();
    },
  };
  return delivery;
}

/** One delivery, with random faults. @returns whether the sender gets an acknowledgement */
async function attempt({ injected, faults }: Delivery, message: Message, post: Post): Promise<boolean> {
  await sleep(Math.random() * faults.maxDelayMs);
  if (happens(faults.lost)) {
    injected.lost++;
    return false;
  }
  const { status } = await post(message);
  if (status >= 300) return false;
  const answerLost = happens(faults.answerLost);
  if (answerLost) injected.answersLost++;
  return !answerLost;
}

function happens(probability: number): boolean {
  return Math.random() < probability;
}

type Post = (message: Message) => Promise<{ status: number; body: Buffer }>;

/** Forwards messages, few at a time. A broken connection or a timeout counts as status 503. */
function forwarder(
  address: string,
  concurrency: number,
  timeout: number,
): { post: Post; handled(): number; stop(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: Math.ceil(concurrency) });
  let handled = 0;
  const [host, port] = address.split(":");
  const post: Post = ({ path, headers, body }) =>
    new Promise((resolve) => {
      const failed = () => resolve({ status: 503, body: Buffer.alloc(0) });
      const sent = request(
        {
          ...{ agent, host: host as string, port: port as string, path, method: "POST", timeout },
          headers: { ...headers, host: address, "content-length": body.length },
        },
        (response) => {
          const status = response.statusCode ?? 503;
          if (status < 300) handled++;
          collect(response).then((answered) => resolve({ status, body: answered }), failed);
        },
      );
      sent.on("timeout", () => sent.destroy());
      sent.on("error", failed);
      sent.end(body);
    });
  return { post, handled: () => handled, stop: () => agent.destroy() };
}

async function serve(
  handle: (message: Message, answer: (status: number, body?: Buffer) => void) => unknown,
): Promise<Server> {
  const server = createServer(async (incoming, outgoing) => {
    const body = await collect(incoming);
    const { "transfer-encoding": _, connection: __, ...headers } = incoming.headers;
    await handle({ path: incoming.url ?? "/", headers, body }, (status, answered) => {
      outgoing.writeHead(status, { "content-type": "application/json" }).end(answered ?? "{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function collect(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function addressOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
