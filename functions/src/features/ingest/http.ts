/**
 * The HTTP side of ingest: who may send, and what each request gets as an answer.
 *
 *     200  {"counted": 10, "duplicates": 0, "at": 1767225600000}: committed. What had an id and had counted before is a
 *          duplicate. All are in a total whose `asOf` is later than `at`, in milliseconds since the epoch. With `skipInvalid`
 *          also `"skipped": [{"index": 3, "status": 403, "error": "…"}]`, if an event was left out
 *     400  the batch is invalid                       401  App Check
 *     403  the origin or a counter is not listed, or a counter of a group does not exist
 *     404  ingest is off                              405  not POST              408  the body takes too long
 *     413  too large, also in its sum                 415  compressed, or not UTF-8
 *     429  too much: send again after Retry-After seconds
 *     503  no answer by Firestore. What has an id can be sent again
 *
 * Each refusal is `{"error": "…"}`, that of an amount with `maxAmount`. It counts nothing, except that after 503 it may.
 */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { logError } from "../../counter/log.ts";
import type { Millis } from "../../counter/time.ts";
import { isEmptyList } from "../../shared/counterList.ts";
import type { HttpRequest } from "../../shared/feature.ts";
import { addressOf, createAddressLimit, createLimit } from "../../shared/rateLimit.ts";
import { Refusal, tooMany } from "../../shared/refusal.ts";
import { readBody } from "../../shared/requestBody.ts";
import {
  type BatchLimits,
  chargeOf,
  InvalidBatch,
  type ParsedBatch,
  parseBatch,
  type Unit,
  unitsOf,
} from "./events.ts";
import { type IngestResult, Overloaded } from "./grouping.ts";
import {
  ADDRESSES_AT_FULL_RATE,
  IDS_PER_SECOND,
  type IngestConfig,
  LARGEST_BODY,
  MAX_SUM_SECONDS,
  MOST_EVENTS,
} from "./parseIngestConfig.ts";

/** How long a browser may remember the answer to a preflight request: a day. */
const PREFLIGHT_SECONDS = 86_400;

export interface HttpIngest {
  readonly config: IngestConfig & Pick<BatchLimits, "visitors" | "items">;
  /** Resolves when the units are committed. */
  readonly add: (units: readonly Unit[]) => Promise<IngestResult>;
  /** Refuses, or skips, the events of counters that do not exist and must not be made. */
  readonly admit: (batch: ParsedBatch, address: string) => Promise<ParsedBatch>;
  /** Rejects if the token is not valid. */
  readonly verifyAppCheck: (token: string) => Promise<unknown>;
  /** A monotonic clock. */
  readonly now: () => Millis;
}

/** The handler of one instance. */
export function createIngestHandler({ config, add, admit, verifyAppCheck, now }: HttpIngest) {
  const { amountPerSecond } = config;
  const waitFor = createAddressLimit(
    { perSecond: amountPerSecond },
    { perSecond: ADDRESSES_AT_FULL_RATE * amountPerSecond },
  );
  const waitForIds = createLimit({ perSecond: IDS_PER_SECOND });
  const maxSum = MAX_SUM_SECONDS * amountPerSecond;

  return async (request: HttpRequest, response: ServerResponse): Promise<void> => {
    try {
      allowOrigin(request, response);
      if (request.method === "OPTIONS") response.writeHead(204, PREFLIGHT).end();
      else answer(response, 200, { ...(await ingest(request)), at: Date.now() });
    } catch (error) {
      const { status, message, details, headers = {} } = refusalOf(error);
      answer(response, status, { error: message, ...details }, headers);
    }
  };

  /** Pages of other origins must not count. Any page may read why, or it would send again. */
  function allowOrigin({ headers: { origin } }: HttpRequest, response: ServerResponse): void {
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
    // `sendBeacon` asks for this before it sends JSON. No credentials are read.
    response.setHeader("access-control-allow-credentials", "true");
  }

  async function ingest(request: HttpRequest): Promise<IngestResult & Pick<ParsedBatch, "skipped">> {
    if (request.method !== "POST") throw new Refusal(405, "send events with POST", { allow: "POST, OPTIONS" });
    const { "x-forwarded-for": forwardedFor, "x-firebase-appcheck": token } = request.headers;
    const address = addressOf(String(forwardedFor ?? ""), request.socket.remoteAddress);
    // What is invalid is charged, too.
    charge(address, 1);
    const json = await readBody(request, LARGEST_BODY);
    const maxAmount = Math.min(config.maxAmount, maxSum);
    const batch = parseBatch(json, { ...config, maxAmount, maxSum, maxEvents: MOST_EVENTS });
    if (config.appCheck) await checkApp(token === undefined ? batch.appCheck : String(token));
    const sum = batch.events.reduce((all, event) => all + chargeOf(event), 0);
    const ids = unitsOf(batch).filter(({ id }) => id !== undefined).length;
    let charged = 0;
    let chargedIds = 0;
    try {
      charged = charge(address, Math.max(sum - 1, 0));
      chargedIds = chargeIds(ids);
      const admitted = await admit(batch, address);
      const result = await add(unitsOf(admitted));
      return { ...result, skipped: admitted.skipped?.length ? admitted.skipped : undefined };
    } catch (error) {
      // What does not count, or may be sent again, is not charged, but for the request itself.
      waitFor(address, -charged, now());
      waitForIds("", -chargedIds, now());
      throw error;
    }
  }

  function charge(address: string, amount: number): number {
    const wait = waitFor(address, amount, now());
    if (wait > 0) throw tooMany("this address, or all together, add too much", wait);
    return amount;
  }

  function chargeIds(count: number): number {
    const wait = waitForIds("", count, now());
    if (wait > 0) throw tooMany("all together send too many ids", wait);
    return count;
  }

  async function checkApp(token: string | undefined): Promise<void> {
    if (!token)
      throw new Refusal(401, 'a token of App Check is missing; send X-Firebase-AppCheck, or "appCheck" in the batch');
    await verifyAppCheck(token).catch(() => {
      throw new Refusal(401, "the token of App Check is not valid");
    });
  }
}

function answer(response: ServerResponse, status: number, body: object, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

const PREFLIGHT = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "content-type, x-firebase-appcheck",
  "access-control-max-age": String(PREFLIGHT_SECONDS),
};

function refusalOf(
  error: unknown,
): Pick<Refusal, "status" | "message"> & Partial<Pick<Refusal, "headers"> & Pick<InvalidBatch, "details">> {
  if (error instanceof Refusal || error instanceof InvalidBatch) return error;
  if (error instanceof Overloaded) return tooMany(error.message, 1_000);
  if ((error as { code?: unknown }).code === "ECONNRESET") return new Refusal(400, "the request was cut");
  logError("could not commit events; their senders were told so", { error });
  return new Refusal(503, "the events may or may not count; send again what has an id", { "retry-after": "1" });
}
