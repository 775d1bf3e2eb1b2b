/** The configuration of ingest, as plain data: what requests and messages may count, who may send them, and how much. */
import { type CounterList, parseCounterList } from "../../shared/counterList.ts";
import { invalidParameter, listItems, type Values } from "../../shared/parameters.ts";

/** The parameters whose names begin with `INGEST_`, parsed. */
export interface IngestConfig {
  /** What requests may count. Empty: ingest is off. */
  readonly counters: CounterList;
  /** Which pages may send requests: their origins, or `"*"`. Requests without an origin are not from pages. */
  readonly origins: readonly string[] | "*";
  /** Whether a request must have a valid App Check token. */
  readonly appCheck: boolean;
  /** The largest amount of one event. */
  readonly maxAmount: number;
  /** How much one address may add per second, in each instance, on average. Ten seconds' worth may come at once. */
  readonly amountPerSecond: number;
}

/** The largest body of a request, in bytes. */
export const LARGEST_BODY = 65_536;

/**
 * The largest sum of a request: what its address may add in so many seconds. So the addresses behind a proxy wait no longer than that
 * after one of them has sent too much.
 */
export const MAX_SUM_SECONDS = 60;

/** All addresses together may add so many times what one may. */
export const ADDRESSES_AT_FULL_RATE = 200;

/** How many ids of batches and events, each a write and a delete, an instance takes per second from all addresses. */
export const IDS_PER_SECOND = 1_000;

/** The most events of a request. */
export const MOST_EVENTS = 500;

/** The largest amount of an event from any source, so that the sums of a commit stay exact. */
export const LARGEST_AMOUNT = 1_000_000;

/** @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted */
export function parseIngestConfig(values: Values): IngestConfig {
  const origins = values.text("INGEST_ORIGINS").trim();
  return {
    counters: parseCounterList(values.text("INGEST_COUNTERS"), "INGEST_COUNTERS"),
    origins: origins === "*" ? "*" : listItems(origins).map(validOrigin),
    appCheck: values.isYes("INGEST_APP_CHECK"),
    maxAmount: values.number("INGEST_MAX_AMOUNT"),
    amountPerSecond: values.number("INGEST_AMOUNT_PER_SECOND"),
  };
}

function validOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
  const [, likely] = /^(https?:\/\/[^/?#@]+)[/?#]/.exec(origin) ?? [];
  const accepted = likely
    ? `"${likely}", without a path`
    : 'origins such as "https://example.com", separated by commas, or "*"';
  throw invalidParameter("INGEST_ORIGINS", origin, accepted);
}
