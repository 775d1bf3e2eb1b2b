/**
 * What requests and messages carry: a batch of events, as JSON.
 *
 *     { "id": "5f0c…", "events": [ { "counter": "views:home", "by": 1, "visitor": "session 7" } ] }
 *
 * A batch is accepted as a whole or refused as a whole. With `skipInvalid`, events that are refused are left out instead. An `id` makes the
 * batch count once, however often it is sent. An event may have an `id` of its own, for senders that put other events into a batch when
 * they send it again.
 */
import { isDocumentId, MAX_ITEM_BYTES } from "../../../../core/src/index.ts";
import { type CounterList, isListed } from "../../shared/counterList.ts";

/** One event of a batch, as it is sent. */
export interface EventMessage {
  /** The id of the counter. */
  readonly counter: string;
  /** A whole number from 1. Default 1. May be 0 if there is a `visitor` and no `item`; then the visitor counts alone. */
  readonly by?: number;
  /** Counts once as a visitor of the counter, however many events there are: any text, up to 256 characters. */
  readonly visitor?: string;
  /** When it happened, by the sender's clock: ISO 8601. For the event log alone. */
  readonly at?: string;
  /** What is counted, such as a page or a search term: a text of up to 128 bytes of UTF-8. The counter shows its top items. */
  readonly item?: string;
  /** Makes the event count once, also in different batches. Costs 1 write. Up to 256 characters. */
  readonly id?: string;
}

/** A batch, as it is sent. */
export interface BatchMessage {
  /** Makes the batch count once: at random, so that no other sender has it. Up to 256 characters. */
  readonly id?: string;
  readonly events: readonly EventMessage[];
  /** Leaves out events that are invalid, not listed or too large, instead of refusing the batch. The answer tells which. Default false. */
  readonly skipInvalid?: boolean;
  /** A token of App Check, for senders that cannot set a header. */
  readonly appCheck?: string;
}

/** A valid event. */
export interface Event {
  /** Its place in the batch. */
  readonly index: number;
  readonly id: string | undefined;
  readonly counter: string;
  readonly by: number;
  readonly visitor: string | undefined;
  readonly at: string | undefined;
  /** Counts `by` times, which is not 0. */
  readonly item: string | undefined;
}

/** The events that count once as a whole. Without an id, they count as often as they are sent. */
export interface Unit {
  readonly id: string | undefined;
  /** Whose id it is. A batch is known by its id, an event by its id and its counter. */
  readonly of: "batch" | "event";
  readonly events: readonly Event[];
}

/** An event that was left out, as the answer tells it. */
export interface SkippedEvent {
  /** Its place in the batch. */
  readonly index: number;
  /** 400 or 403, as the batch would get without `skipInvalid`; 429 for what is beyond its sum: it may be sent again, in another batch. */
  readonly status: number;
  readonly error: string;
  /** If the amount is refused: the largest one. */
  readonly maxAmount?: number;
}

/** A valid batch. */
export interface ParsedBatch {
  readonly id: string | undefined;
  readonly events: readonly Event[];
  /** `undefined` unless the batch has `skipInvalid`. */
  readonly skipped: readonly SkippedEvent[] | undefined;
  readonly appCheck: string | undefined;
}

/** What a batch may have. */
export interface BatchLimits {
  /** `undefined`: any counter. */
  readonly counters: CounterList | undefined;
  readonly maxEvents: number;
  readonly maxAmount: number;
  /** The largest sum of a batch. */
  readonly maxSum: number;
  readonly visitors: boolean;
  readonly items: boolean;
}

/** A batch that is refused, or an event that is skipped. The message says which event, what is wrong, and what is accepted. */
export class InvalidBatch extends Error {
  /** Of the HTTP answer: 400, 403 for a counter that is not listed, 413 or 429 for a sum that is too large. */
  readonly status: 400 | 403 | 413 | 429;
  /** What else the answer tells. */
  readonly details: { readonly maxAmount?: number };

  constructor(message: string, status: InvalidBatch["status"] = 400, details: InvalidBatch["details"] = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

const MAX_TEXT = 256;
const MAX_TOKEN = 4_096;
/**
 * Each id and each counter costs a write of the commit, which has 10 MiB at most. A write with the longest id of a counter has
 * some 2 kB, and visitors and items add writes.
 */
const MAX_WRITES = 1_000;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const EVENT_FIELDS = ["counter", "by", "visitor", "item", "at", "id"];
const BATCH_FIELDS = ["id", "events", "skipInvalid", "appCheck"];

/**
 * Checks a batch.
 *
 * @param batchId  of a batch that names none
 * @throws InvalidBatch
 */
export function parseBatch(json: string, limits: BatchLimits, batchId?: string): ParsedBatch {
  const batch = objectWith(BATCH_FIELDS, "the batch", parseJson(json));
  const id = validText("id", batch.id) ?? batchId;
  const appCheck = validText("appCheck", batch.appCheck, MAX_TOKEN);
  const { events, skipInvalid = false } = batch;
  if (typeof skipInvalid !== "boolean") throw new InvalidBatch("skipInvalid is not true or false");
  if (!Array.isArray(events) || events.length === 0) {
    throw new InvalidBatch('events is missing; send {"events": [{"counter": "views:home"}]}');
  }
  if (events.length > limits.maxEvents) {
    throw new InvalidBatch(`events has ${events.length} items; send ${limits.maxEvents} at most`);
  }
  const skipped: SkippedEvent[] = [];
  const valid: Event[] = [];
  /** By counter: an id belongs to its counter. */
  const ids = new Set<string>();
  let sum = 0;
  for (const [index, item] of events.entries()) {
    try {
      const event = parseEvent(item, index, limits);
      const id = event.id === undefined ? undefined : `${event.counter}/${event.id}`;
      if (id !== undefined && ids.has(id)) {
        throw new InvalidBatch(`events[${index}].id is the id of another event of the counter, too`);
      }
      if (sum + chargeOf(event) > limits.maxSum) {
        const message = `events[${index}]: the batch adds more than ${limits.maxSum}; send the rest in another one`;
        throw new InvalidBatch(message, skipInvalid ? 429 : 413);
      }
      sum += chargeOf(event);
      if (id !== undefined) ids.add(id);
      valid.push(event);
    } catch (error) {
      if (!skipInvalid || !(error instanceof InvalidBatch)) throw error;
      skipped.push(skippedEvent(index, error));
    }
  }
  const writes = ids.size + new Set(valid.map(({ counter }) => counter)).size;
  if (writes > MAX_WRITES) {
    throw new InvalidBatch(`the batch has ${writes} ids and counters; send ${MAX_WRITES} at most`);
  }
  return { id, events: valid, skipped: skipInvalid ? skipped : undefined, appCheck };
}

/** What an event counts for limits: its amount, and 1 for a visitor without one. */
export function chargeOf({ by }: Pick<Event, "by">): number {
  return Math.max(by, 1);
}

/** What the answer tells of an event that is left out for a reason. */
export function skippedEvent(index: number, { status, message, details }: InvalidBatch): SkippedEvent {
  return { index, status, error: message, ...details };
}

/** Divides a batch into what counts once. */
export function unitsOf({ id, events }: ParsedBatch): Unit[] {
  const together = events.filter((event) => event.id === undefined);
  const alone = events.filter((event) => event.id !== undefined);
  return [
    ...(together.length > 0 ? [{ id, of: "batch" as const, events: together }] : []),
    ...alone.map((event) => ({ id: event.id, of: "event" as const, events: [event] })),
  ];
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidBatch('the body is not JSON; send {"events": [{"counter": "views:home"}]}');
  }
}

function parseEvent(message: unknown, index: number, limits: BatchLimits): Event {
  const name = `events[${index}]`;
  const fields = objectWith(EVENT_FIELDS, name, message);
  const { counter, visitor, item, by = 1, at } = fields;
  if (!isDocumentId(counter)) {
    throw new InvalidBatch(`${name}.counter is not the id of a counter; send one such as "views:home"`);
  }
  if (limits.counters && !isListed(limits.counters, counter)) {
    throw new InvalidBatch(`${name}.counter: "${counter.slice(0, 60)}" is not among INGEST_COUNTERS`, 403);
  }
  if (visitor !== undefined && !limits.visitors) {
    throw new InvalidBatch(`${name}.visitor: requests may count visitors only if VISITORS is "ingest"`, 403);
  }
  if (item !== undefined && !limits.items) {
    throw new InvalidBatch(`${name}.item: requests may bring items only if ITEMS is "yes"`, 403);
  }
  const least = visitor === undefined || item !== undefined ? 1 : 0;
  if (!(Number.isInteger(by) && (by as number) >= least && (by as number) <= limits.maxAmount)) {
    const details = Number.isInteger(by) && (by as number) > 0 ? { maxAmount: limits.maxAmount } : {};
    throw new InvalidBatch(`${name}.by is not a whole number from ${least} to ${limits.maxAmount}`, 400, details);
  }
  return {
    index,
    id: validText(`${name}.id`, fields.id),
    counter,
    by: by as number,
    visitor: validText(`${name}.visitor`, visitor),
    item: validItem(`${name}.item`, item),
    at: validTime(`${name}.at`, at),
  };
}

function validTime(name: string, time: unknown): string | undefined {
  if (time === undefined) return undefined;
  // As BigQuery reads it: of the forms of ISO 8601 it knows fewer, and no years but 1 to 9999, in UTC.
  if (typeof time === "string" && ISO_TIME.test(time)) {
    const date = new Date(time);
    const day = time.slice(0, 10);
    // `Date` reads 30 February as 2 March.
    const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day);
    if (isDay && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9_999) return date.toISOString();
  }
  throw new InvalidBatch(`${name} is not a time; send ISO 8601, such as "2027-01-31T12:00:00Z"`);
}

function validItem(name: string, item: unknown): string | undefined {
  const text = validText(name, item);
  if (text === undefined || Buffer.byteLength(text) <= MAX_ITEM_BYTES) return text;
  throw new InvalidBatch(`${name} has more than ${MAX_ITEM_BYTES} bytes of UTF-8`);
}

/** An object with no other fields than these, because a field with a wrong name would be lost. */
function objectWith(known: readonly string[], name: string, value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidBatch(`${name} is not an object`);
  }
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown === undefined) return value as Record<string, unknown>;
  throw new InvalidBatch(`${name} has the unknown field "${unknown.slice(0, 60)}"; send ${known.join(", ")}`);
}

function validText(name: string, text: unknown, longest = MAX_TEXT): string | undefined {
  if (text === undefined) return undefined;
  // Half of a surrogate pair has no UTF-8.
  if (typeof text === "string" && text !== "" && text.length <= longest && text.isWellFormed()) return text;
  throw new InvalidBatch(`${name} is not a text of 1 to ${longest} characters`);
}
