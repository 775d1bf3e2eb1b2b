/**
 * The HTTP side of ingest: who may send, and what each request gets as an answer.
 *
 *     200  {"counted": 10, "duplicates": 0, "at": 1767225600000}: committed. What had an id and had counted before is a
 *          duplicate. All are in a total whose `asOf` is later than `at`, in milliseconds since the epoch
 *     400  the batch is invalid                       401  App Check
 *     403  the origin or a counter is not listed      404  ingest is off
 *     405  not POST                                   413  too large             415  compressed, or not UTF-8
 *     429  too much: send again after Retry-After seconds
 *     503  no answer by Firestore. What has an id can be sent again
 *
 * Each refusal is `{"error": "…"}`. It counts nothing, except that after 503 it may.
 */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { logError } from "../counter/log.ts";
import type { Millis } from "../counter/time.ts";
import { isEmptyList } from "../http/counterList.ts";
import { Refusal } from "../http/refusal.ts";
import { addressOf, createAddressLimit } from "./addressLimit.ts";
import { type IngestConfig, LARGEST_BODY, MOST_EVENTS } from "./config.ts";
import { type BatchLimits, InvalidBatch, parseBatch, type Unit } from "./events.ts";
import { type IngestResult, Overloaded } from "./grouping.ts";
import { type Request, readBody } from "./requestBody.ts";

/** How long a browser may remember the answer to a preflight request: a day. */
const PREFLIGHT_SECONDS = 86_400;

export interface HttpIngest {
  readonly config: IngestConfig & Pick<BatchLimits, "visitors" | "items">;
  /** Resolves when the units are committed. */
  readonly add: (units: readonly Unit[]) => Promise<IngestResult>;
  /** Rejects if the token is not valid. */
  readonly verifyAppCheck: (token: string) => Promise<unknown>;
  /** A monotonic clock. */
  readonly now: () => Millis;
}

/** The handler of one instance. */
export function createIngestHandler({ config, add, verifyAppCheck, now }: HttpIngest) {
  const waitFor = createAddressLimit(config.amountPerSecond);

  return async (request: Request, response: ServerResponse): Promise<void> => {
    try {
      allowOrigin(request, response);
      if (request.method === "OPTIONS") response.writeHead(204, PREFLIGHT).end();
      else answer(response, 200, { ...(await ingest(request)), at: Date.now() });
    } catch (error) {
      const { status, message, headers = {} } = refusalOf(error);
      answer(response, status, { error: message }, headers);
    }
  };

  /** Pages of other origins must not count. Any page may read why, or it would send again. */
  function allowOrigin({ headers: { origin } }: Request, response: ServerResponse): void {
    response.setHeader("vary", "origin");
    if (origin !== undefined) response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-expose-headers", "retry-after");
    if (isEmptyList(config.counters)) {
      throw new Refusal(404, "ingest is off; set INGEST_COUNTERS to the counters that it may count");
    }
    if (origin === undefined) return;
    if (config.origins !== "*" && !config.origins.includes(origin)) {
      throw new Refusal(403, `the origin "${origin.slice(0, 100)}" is not among INGEST_ORIGINS`);
    }
  }

  async function ingest(request: Request): Promise<IngestResult> {
    if (request.method !== "POST") throw new Refusal(405, "send events with POST", { allow: "POST, OPTIONS" });
    const { "x-forwarded-for": forwardedFor, "x-firebase-appcheck": token } = request.headers;
    const address = addressOf(String(forwardedFor ?? ""), request.socket.remoteAddress);
    // What is invalid is charged, too.
    charge(address, 1);
    const json = await readBody(request, LARGEST_BODY);
    const { units, appCheck } = parseBatch(json, { ...config, maxEvents: MOST_EVENTS });
    if (config.appCheck) await checkApp(token === undefined ? appCheck : String(token));
    charge(address, amountOf(units) - 1);
    return await add(units);
  }

  function charge(address: string, amount: number): void {
    const wait = waitFor(address, amount, now());
    if (wait > 0) throw tooMany("this address adds too much", wait);
  }

  async function checkApp(token: string | undefined): Promise<void> {
    if (!token)
      throw new Refusal(401, 'a token of App Check is missing; send X-Firebase-AppCheck, or "appCheck" in the batch');
    await verifyAppCheck(token).catch(() => {
      throw new Refusal(401, "the token of App Check is not valid");
    });
  }
}

/** What counts for the limit: the sum, and each visitor without an increment. */
function amountOf(units: readonly Unit[]): number {
  return units.flatMap(({ events }) => events).reduce((sum, { by }) => sum + Math.max(by, 1), 0);
}

function answer(response: ServerResponse, status: number, body: object, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

const PREFLIGHT = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "content-type, x-firebase-appcheck",
  "access-control-max-age": String(PREFLIGHT_SECONDS),
};

function refusalOf(error: unknown): Pick<Refusal, "status" | "message"> & { readonly headers?: Refusal["headers"] } {
  if (error instanceof Refusal || error instanceof InvalidBatch) return error;
  if (error instanceof Overloaded) return tooMany(error.message, 1_000);
  if ((error as { code?: unknown }).code === "ECONNRESET") return new Refusal(400, "the request was cut");
  logError("could not commit events; their senders were told so", { error });
  return new Refusal(503, "the events may or may not count; send again what has an id", { "retry-after": "1" });
}

function tooMany(reason: string, wait: Millis): Refusal {
  const seconds = Math.ceil(wait / 1_000);
  return new Refusal(429, `${reason}; send again after ${seconds} s`, { "retry-after": String(seconds) });
}
