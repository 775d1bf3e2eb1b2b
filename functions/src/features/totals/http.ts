/**
 * The HTTP side of totals: published totals for anyone on the internet, in a form that caches share.
 *
 *     GET …?ids=a,b
 *     200  {"totals": {"a": {"total": 12, "asOf": 1767225600000}, "b": null}}: null without a published total
 *     304  as If-None-Match
 *     400  the query is invalid                      403  a counter is not listed
 *     404  totals is off                             405  not GET or HEAD
 *     429  too many counters without a total: ask again after Retry-After seconds
 *     503  no answer by Firestore
 *
 * Each refusal is `{"error": "…"}`. Headers decide nothing, but for If-None-Match and the address. Cost: 1 read per counter and second in each
 * instance, at most.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Millis } from "../../counter/time.ts";
import { type CounterList, isEmptyList } from "../../shared/counterList.ts";
import { addressOf } from "../../shared/rateLimit.ts";
import { Refusal } from "../../shared/refusal.ts";
import { etagOf, maxAgeSeconds, namesTag, totalsJson } from "./answer.ts";
import { parseQuery, totalsAreOff } from "./query.ts";
import type { Reading } from "./sharedReads.ts";

/** How long a browser may remember the answer to a preflight request: a day. */
const PREFLIGHT_SECONDS = 86_400;

export interface HttpTotals {
  /** What may be shown. Empty: totals is off. */
  readonly counters: CounterList;
  /** One answer for each id, for a request of an address. */
  readonly read: (ids: readonly string[], address: string) => Promise<(Reading | undefined)[]>;
  readonly maxInterval: Millis;
  /** Since the epoch. */
  readonly now: () => Millis;
}

/** The handler of one instance. */
export function createTotalsHandler({ counters, read, maxInterval, now }: HttpTotals) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("x-content-type-options", "nosniff");
    try {
      if (isEmptyList(counters)) throw totalsAreOff();
      if (request.method === "OPTIONS") response.writeHead(204, PREFLIGHT).end();
      else await answer(request, response);
    } catch (error) {
      const { status, message, headers } = refusalOf(error);
      send(response, status, { "cache-control": "no-store", ...headers }, JSON.stringify({ error: message }));
    }
  };

  async function answer(
    { method, url = "", headers, socket }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (method !== "GET" && method !== "HEAD") {
      throw new Refusal(405, "ask for totals with GET", { allow: "GET, HEAD, OPTIONS" });
    }
    const ids = parseQuery(url, counters);
    const forwardedFor = String(headers["x-forwarded-for"] ?? "");
    const readings = await read(ids, addressOf(forwardedFor, socket.remoteAddress));
    const body = totalsJson(ids, readings);
    const seconds = maxAgeSeconds(readings, now(), maxInterval);
    const cached = { "cache-control": `public, max-age=${seconds}, s-maxage=${seconds}`, etag: etagOf(body) };
    if (namesTag(headers["if-none-match"], cached.etag)) response.writeHead(304, cached).end();
    else send(response, 200, cached, body);
  }
}

/** Node leaves the body out of an answer to HEAD. */
function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, json: string): void {
  const content = { "content-type": "application/json", "content-length": Buffer.byteLength(json) };
  response.writeHead(status, { ...content, ...headers }).end(json);
}

const PREFLIGHT = {
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "if-none-match",
  "access-control-max-age": String(PREFLIGHT_SECONDS),
};

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(503, "Firestore gives no answer; ask again", { "retry-after": "1" });
}
