/**
 * The process of a load by HTTP, at a rate that does not depend on the answers: raw sockets, each with several requests in flight
 * (pipelining), and answers that are counted, not parsed. A tenth of a core makes thousands of requests a second.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Millis, type Percentiles, percentilesOf } from "../testkit/statistics.ts";

export interface HttpLoad {
  readonly port: number;
  /** The requests' paths, in turns. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

export interface HttpLoadResult {
  readonly answers: Readonly<Record<string, number>>;
  /** From the first request to the last answer. */
  readonly took: Millis;
  /** Headers and bodies of all answers. */
  readonly bytes: number;
  /** From a request to its answer. */
  readonly answered: Percentiles;
}

const CONNECTIONS = 64;
const TICK: Millis = 10;
/** How long the last answers may take. */
const TIMEOUT: Millis = 10_000;
const STATUS = "HTTP/1.1 ";
const STATUS_LENGTH = STATUS.length + 3;

class Connection {
  readonly socket: Socket;
  /** Requests that were sent together, the oldest first. */
  readonly #sent: { left: number; readonly at: Millis }[] = [];
  #tail = "";

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.socket.on("data", (chunk) => this.#receive(chunk));
  }

  send(requests: readonly string[]): void {
    this.#sent.push({ left: requests.length, at: performance.now() });
    this.socket.write(requests.join(""));
  }

  #receive(chunk: Buffer): void {
    bytes += chunk.byteLength;
    const text = this.#tail + chunk.toString("latin1");
    let end = 0;
    for (let at = text.indexOf(STATUS); at >= 0 && at + STATUS_LENGTH <= text.length; at = text.indexOf(STATUS, end)) {
      end = at + STATUS_LENGTH;
      this.#answered(text.slice(end - 3, end));
    }
    // A status line may be in two chunks.
    this.#tail = text.slice(Math.max(end, text.length - STATUS_LENGTH + 1));
  }

  #answered(status: string): void {
    answers[status] = (answers[status] ?? 0) + 1;
    pending--;
    const [oldest] = this.#sent;
    if (!oldest || --oldest.left > 0) return;
    this.#sent.shift();
    delays.push(performance.now() - oldest.at);
  }
}

const answers: Record<string, number> = {};
const delays: Millis[] = [];
let [bytes, pending] = [0, 0];

const [{ port, paths, perSecond, seconds }] = (await once(process, "message")) as [HttpLoad];
const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: totals.example\r\n\r\n`);
const connections = Array.from({ length: CONNECTIONS }, () => new Connection(port));
await Promise.all(connections.map(({ socket }) => once(socket, "connect")));
const start = performance.now();
const total = perSecond * seconds;
for (let sent = 0; sent < total; ) {
  const due = Math.min(Math.floor(((performance.now() - start) * perSecond) / 1_000), total) - sent;
  const share = Math.ceil(due / CONNECTIONS);
  for (let left = due; left > 0; left -= share) {
    const next = Array.from({ length: Math.min(share, left) }, () => requests[sent++ % requests.length] as string);
    pending += next.length;
    connections[Math.floor(Math.random() * CONNECTIONS)]?.send(next);
  }
  await sleep(TICK);
}
const deadline = performance.now() + TIMEOUT;
while (pending > 0 && performance.now() < deadline) await sleep(TICK);
if (pending > 0) answers.none = pending;
const took = performance.now() - start;
const result: HttpLoadResult = { answers, took, bytes, answered: percentilesOf(delays) };
process.send?.(result, () => process.exit(0));
