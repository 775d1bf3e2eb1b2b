/**
 * What requests and messages carry: a batch of events, as JSON.
 *
 *     { "id": "5f0c…", "events": [ { "counter": "views:home", "by": 1, "visitor": "session 7" } ] }
 *
 * A batch is accepted as a whole or refused as a whole. An `id` makes it count once, however often it is sent. An event may have an
 * `id` of its own, for senders that put other events into a batch when they send it again.
 */
import { isDocumentId, MAX_ITEM_BYTES } from "../../../core/src/index.ts";
import { type CounterList, isListed } from "../http/counterList.ts";

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
  /** A token of App Check, for senders that cannot set a header. */
  readonly appCheck?: string;
}

/** A valid event. */
export interface Event {
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
  readonly events: readonly Event[];
}

/** A valid batch. */
export interface ParsedBatch {
  readonly units: readonly Unit[];
  readonly appCheck: string | undefined;
}

/** What a batch may have. */
export interface BatchLimits {
  /** `undefined`: any counter. */
  readonly counters: CounterList | undefined;
  readonly maxEvents: number;
  readonly maxAmount: number;
  readonly visitors: boolean;
  readonly items: boolean;
}

/** A batch that is refused. The message says which event, what is wrong, and what is accepted. */
export class InvalidBatch extends Error {
  /** Of the HTTP answer: 400, or 403 for a counter that is not listed. */
  readonly status: 400 | 403;

  constructor(message: string, status: 400 | 403 = 400) {
    super(message);
    this.status = status;
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
const BATCH_FIELDS = ["id", "events", "appCheck"];

/**
 * Checks a batch and divides it into what counts once.
 *
 * @param batchId  of a batch that names none
 * @throws InvalidBatch
 */
export function parseBatch(json: string, limits: BatchLimits, batchId?: string): ParsedBatch {
  const batch = objectWith(BATCH_FIELDS, "the batch", parseJson(json));
  const id = validText("id", batch.id) ?? batchId;
  const { events } = batch;
  if (!Array.isArray(events) || events.length === 0) {
    throw new InvalidBatch('events is missing; send {"events": [{"counter": "views:home"}]}');
  }
  if (events.length > limits.maxEvents) {
    throw new InvalidBatch(`events has ${events.length} items; send ${limits.maxEvents} at most`);
  }
  const together: Event[] = [];
  const alone = new Map<string, Unit>();
  for (const [index, item] of events.entries()) {
    const name = `events[${index}]`;
    const fields = objectWith(EVENT_FIELDS, name, item);
    const event = parseEvent(fields, name, limits);
    const eventId = validText(`${name}.id`, fields.id);
    if (eventId === undefined) together.push(event);
    else if (eventId === id || alone.has(eventId))
      throw new InvalidBatch(`${name}.id is the id of the batch or of another event, too`);
    else alone.set(eventId, { id: eventId, events: [event] });
  }
  const writes = alone.size + new Set(events.map(({ counter }) => counter)).size;
  if (writes > MAX_WRITES) {
    throw new InvalidBatch(`the batch has ${writes} ids and counters; send ${MAX_WRITES} at most`);
  }
  const units = [...(together.length > 0 ? [{ id, events: together }] : []), ...alone.values()];
  return { units, appCheck: validText("appCheck", batch.appCheck, MAX_TOKEN) };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidBatch('the body is not JSON; send {"events": [{"counter": "views:home"}]}');
  }
}

function parseEvent(fields: Record<string, unknown>, name: string, limits: BatchLimits): Event {
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
    throw new InvalidBatch(`${name}.by is not a whole number from ${least} to ${limits.maxAmount}`);
  }
  return {
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
    if (date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9_999) return date.toISOString();
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
