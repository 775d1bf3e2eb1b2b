/** The configuration of ingest, as plain data: what requests and messages may count, who may send them, and how much. */
import { CounterError, groupOf, isDocumentId } from "../../../core/src/index.ts";
import type { ParameterValues } from "../parseConfig.ts";

/** The parameters of parameters.ts whose names begin with `INGEST_`, parsed. */
export interface IngestConfig {
  /** What requests may count. Empty: ingest is off. */
  readonly counters: CounterList;
  /** Which pages may send requests: their origins, or `"*"`. Requests without an origin are not from pages. */
  readonly origins: readonly string[] | "*";
  /** Whether a request must have a valid App Check token. */
  readonly appCheck: boolean;
  /** The largest body of a request. */
  readonly maxBytes: number;
  /** The most events of a request. */
  readonly maxEvents: number;
  /** The largest amount of one event. */
  readonly maxAmount: number;
  /** How much one address may add per second, in each instance, on average. Ten seconds' worth may come at once. */
  readonly amountPerSecond: number;
}

/** Counters, each named by its id, or all of a group: `views:*`. */
export interface CounterList {
  readonly ids: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

/** The largest amount of an event from any source, so that the sums of a commit stay exact. */
export const LARGEST_AMOUNT = 1_000_000;

/** @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted */
export function parseIngestConfig(values: ParameterValues): IngestConfig {
  const text = (name: string) => String(values[name]).trim();
  const whole = (name: string, to: number) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1 && value <= to) return value;
    throw invalid(name, values[name], `a whole number from 1 to ${to}`);
  };
  return {
    counters: parseCounterList(text("INGEST_COUNTERS"), "INGEST_COUNTERS"),
    origins: text("INGEST_ORIGINS") === "*" ? "*" : itemsOf(text("INGEST_ORIGINS")).map(validOrigin),
    appCheck: parseYesOrNo("INGEST_APP_CHECK", text("INGEST_APP_CHECK")),
    maxBytes: whole("INGEST_MAX_BYTES", 1_048_576),
    maxEvents: whole("INGEST_MAX_EVENTS", 5_000),
    maxAmount: whole("INGEST_MAX_AMOUNT", LARGEST_AMOUNT),
    amountPerSecond: whole("INGEST_AMOUNT_PER_SECOND", 1_000_000),
  };
}

/**
 * Parses a list such as `signups, views:*`.
 *
 * @param parameter  named by the error
 * @throws CounterError `counter/invalid-config`
 */
export function parseCounterList(list: string, parameter: string): CounterList {
  const ids = new Set<string>();
  const groups = new Set<string>();
  for (const item of itemsOf(list)) {
    const [, group] = /^([^:*]+):\*$/.exec(item) ?? [];
    if (group !== undefined) groups.add(group);
    else if (isDocumentId(item) && !item.includes("*")) ids.add(item);
    else throw invalid(parameter, item, 'ids of counters, or groups such as "views:*", separated by commas');
  }
  return { ids, groups };
}

/** Whether a list names a counter. */
export function isListed({ ids, groups }: CounterList, counterId: string): boolean {
  return ids.has(counterId) || (counterId.includes(":") && groups.has(groupOf(counterId)));
}

function itemsOf(list: string): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function validOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
  throw invalid("INGEST_ORIGINS", origin, 'origins such as "https://example.com", separated by commas, or "*"');
}

function parseYesOrNo(name: string, value: string): boolean {
  if (value === "yes" || value === "no") return value === "yes";
  throw invalid(name, value, '"yes" or "no"');
}

function invalid(name: string, value: unknown, accepted: string): CounterError {
  return new CounterError("counter/invalid-config", `${name} is ${JSON.stringify(value)}; set it to ${accepted}`);
}
