/**
 * Stands between the emulators and the functions, delivers events and tasks as production does, and makes trouble.
 *
 * Events: the Firestore emulator sends each event once and forgets it, whatever becomes of it. Production's are
 * delivered at least once, in no order, again and again for 24 hours until the function succeeds
 * (https://firebase.google.com/docs/functions/retries). So an event is accepted at once, kept, and tried until it
 * is handled; only the pauses are shorter than production's 10 s and more.
 *
 * Tasks: the Tasks emulator does try again, until the attempts of the queue's `retryConfig` are used up, as production
 * does; so each dispatch is passed on, and its outcome back. Only it dispatches at once, whatever the schedule says, so
 * the task is held here until then.
 */
import { once } from "node:events";
import { Agent, createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Each is a probability, for one delivery. */
export interface Trouble {
  /** It does not arrive. It is tried again later. */
  lost: number;
  /** It arrives and is handled, but the answer is lost; so it comes again. */
  answerLost: number;
  /** It arrives twice, at independent times. */
  twice: number;
  /** Of a call that schedules a task: it fails. Whether the task was taken before, the caller cannot tell. */
  unqueued: number;
  /** The longest it is held back; how long is random, so deliveries overtake each other. */
  delayMs: number;
}

export const NO_TROUBLE: Trouble = { lost: 0, answerLost: 0, twice: 0, unqueued: 0, delayMs: 0 };

/** The trouble there was so far. */
export interface Incidents {
  lost: number;
  answersLost: number;
  doubled: number;
  /** Calls that schedule a task which failed; some of them after the task was taken. */
  unqueued: number;
}

export interface Delivery {
  /** `host:port` to send to. */
  readonly address: string;
  readonly incidents: Incidents;
  trouble: Trouble;
  /** How many events, copies included, or tasks are accepted and not yet handled. */
  pending(): number;
  stop(): Promise<void>;
}

/**
 * How long a function may take to answer. The emulator never answers when a worker dies while it starts, so this is when
 * the event is tried again; production would at once. Not shorter, since each new try may start another worker: a slow
 * machine would come to start workers only.
 */
const DEADLINE_MS = 20_000;

/** Pauses before an event is delivered again. */
const MAX_PAUSE_MS = 1_000;

/** Events, and tasks, under way at a time: the emulator runs a process for each. Production's instances take 80 each. */
const CONCURRENCY = 4;

interface Message {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** @param functions  `host:port` of the functions */
export async function deliverEvents(functions: string): Promise<Delivery> {
  const { post, stop } = courier(functions, CONCURRENCY);
  let pending = 0;
  let closed = false;
  const server = await serve((message, answer) => {
    answer(200);
    const twice = happens(delivery.trouble.twice);
    if (twice) delivery.incidents.doubled++;
    for (let copies = twice ? 2 : 1; copies > 0; copies--) void deliver(message);
  });
  const delivery = {
    address: addressOf(server),
    incidents: { lost: 0, answersLost: 0, doubled: 0, unqueued: 0 },
    trouble: NO_TROUBLE,
    pending: () => pending,
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
    while (!closed && !(await attempt(delivery, message, post))) await sleep(Math.random() * MAX_PAUSE_MS);
    pending--;
  }
}

/**
 * @param tasks      `host:port` of the Tasks emulator. Tasks that are enqueued through here are dispatched through here
 * @param functions  `host:port` of the functions
 */
export async function deliverTasks(tasks: string, functions: string): Promise<Delivery> {
  const queue = courier(tasks, Number.POSITIVE_INFINITY);
  const { post, stop } = courier(functions, CONCURRENCY);
  const waiting = new Set<string>();
  const server = await serve(async (message, answer) => {
    const location = /^\/projects\/(.+)\/locations\/(.+)\/queues\/(.+)\/tasks$/.exec(message.path);
    if (location) {
      const [, project, region, name] = location;
      const body = JSON.parse(message.body.toString());
      body.task.httpRequest.url = `http://${delivery.address}/${project}/${region}/${name}`;
      const fails = happens(delivery.trouble.unqueued);
      if (fails) delivery.incidents.unqueued++;
      if (fails && happens(0.5)) return answer(500);
      const { status, body: answered } = await queue.post({ ...message, body: Buffer.from(JSON.stringify(body)) });
      if (status < 300) waiting.add(body.task.name.split("/").pop());
      return fails ? answer(500) : answer(status, answered);
    }
    await sleep(Math.max(Date.parse(`${message.headers["x-cloudtasks-tasketa"]}`) - Date.now(), 0));
    const twice = happens(delivery.trouble.twice);
    if (twice) {
      delivery.incidents.doubled++;
      void attempt(delivery, message, post);
    }
    const handled = await attempt(delivery, message, post);
    if (handled) waiting.delete(`${message.headers["x-cloudtasks-taskname"]}`);
    answer(handled ? 200 : 503);
  });
  const delivery = {
    address: addressOf(server),
    incidents: { lost: 0, answersLost: 0, doubled: 0, unqueued: 0 },
    trouble: NO_TROUBLE,
    pending: () => waiting.size,
    async stop() {
      stop();
      queue.stop();
      server.close();
      server.closeAllConnections();
    },
  };
  return delivery;
}

/** One delivery, with whatever trouble befalls it. @returns whether the sender hears that it succeeded */
async function attempt({ incidents, trouble }: Delivery, message: Message, post: Post): Promise<boolean> {
  await sleep(Math.random() * trouble.delayMs);
  if (happens(trouble.lost)) {
    incidents.lost++;
    return false;
  }
  const { status } = await post(message);
  if (status >= 300) return false;
  const answerLost = happens(trouble.answerLost);
  if (answerLost) incidents.answersLost++;
  return !answerLost;
}

function happens(probability: number): boolean {
  return Math.random() < probability;
}

type Post = (message: Message) => Promise<{ status: number; body: Buffer }>;

/** Sends messages on, few at a time. A connection that breaks, or no answer in time, counts as status 503. */
function courier(address: string, concurrency: number): { post: Post; stop(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const [host, port] = address.split(":");
  const post: Post = ({ path, headers, body }) =>
    new Promise((resolve) => {
      const failed = () => resolve({ status: 503, body: Buffer.alloc(0) });
      const sent = request(
        {
          ...{ agent, host: host as string, port: port as string, path, method: "POST", timeout: DEADLINE_MS },
          headers: { ...headers, host: address, "content-length": body.length },
        },
        (response) => {
          collect(response).then((answered) => resolve({ status: response.statusCode ?? 503, body: answered }), failed);
        },
      );
      sent.on("timeout", () => sent.destroy());
      sent.on("error", failed);
      sent.end(body);
    });
  return { post, stop: () => agent.destroy() };
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
