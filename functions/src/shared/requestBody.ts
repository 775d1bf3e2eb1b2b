/**
 * The body of a request, of a limited size, and never inflated.
 *
 * The server that runs functions reads each body before the function does: up to a gigabyte, after it has inflated what is
 * compressed. A few kilobytes could fill an instance's memory so. It skips requests without the headers that announce a body.
 * So {@link keepBodies} takes these headers away when a request starts, and the function reads the body itself.
 */
import { subscribe } from "node:diagnostics_channel";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Millis } from "../counter/time.ts";
import type { HttpRequest } from "./feature.ts";
import { Refusal } from "./refusal.ts";

/** A body that takes longer is given up, so that slow senders do not hold requests. */
const BODY_TIMEOUT: Millis = 10_000;

/** The headers by which a server knows that there is a body. */
const ANNOUNCING = ["content-length", "transfer-encoding"] as const;

/** Requests whose bodies are unread → the announced length, `NaN` if there is none. */
const unread = new WeakMap<IncomingMessage, number>();

/**
 * Leaves the bodies of all requests to this process unread, until {@link readBody}. To be called before the first request.
 *
 * The channel is Node's (https://nodejs.org/api/diagnostics_channel.html#http). Its message comes before the event "request".
 */
export function keepBodies(): void {
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    unread.set(request, Number(request.headers["content-length"] ?? Number.NaN));
    for (const name of ANNOUNCING) delete request.headers[name];
  });
}

/** @throws Refusal if it has more than `maxBytes`, is compressed, is not UTF-8, or takes more than {@link BODY_TIMEOUT} */
export async function readBody(request: HttpRequest, maxBytes: number): Promise<string> {
  const { "content-encoding": encoding = "identity" }: IncomingHttpHeaders = request.headers;
  if (encoding !== "identity") {
    throw new Refusal(415, `the body is encoded with ${encoding.slice(0, 60)}; send it as it is`);
  }
  const body = unread.has(request) ? await inTime(readUnread(request, maxBytes)) : (request.rawBody ?? Buffer.of());
  if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new Refusal(415, "the body is not UTF-8");
  }
}

/** Holds no more than `maxBytes` and a chunk. The rest flows away, because a sender reads the answer only after it has sent all. */
async function readUnread(request: HttpRequest, maxBytes: number): Promise<Buffer> {
  if ((unread.get(request) as number) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.byteLength;
    chunks.push(chunk);
    if (bytes > maxBytes) break;
  }
  if (bytes > maxBytes) request.resume();
  return Buffer.concat(chunks);
}

/** Node closes a connection after an answer that says so. */
async function inTime(body: Promise<Buffer>): Promise<Buffer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const refusal = new Refusal(408, `the body takes more than ${BODY_TIMEOUT / 1_000} s`, { connection: "close" });
    timer = setTimeout(reject, BODY_TIMEOUT, refusal);
  });
  return await Promise.race([body, late]).finally(() => clearTimeout(timer));
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `the body has more than ${maxBytes} bytes; send fewer events at a time`);
}
