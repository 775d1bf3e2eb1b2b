/**
 * Counts without the Firebase SDK: amounts are collected, and sent to the function `ingest` in batches.
 *
 *     count ──→ open batch ──→ sealed: has an id, is in localStorage ──→ acknowledged, or dropped
 *                     flushInterval, full, hidden        sent until
 *
 * A sealed batch never changes, so its id means the same amounts each time it is sent, and the function counts it once.
 *
 * Each batch is stored under a key of its own, because tabs cannot change a common list without losing what another tab adds at
 * the same time. A tab removes only what was acknowledged or dropped, and sends its own batches from memory, whatever other
 * tabs remove. Two tabs may send the same batch, which is harmless.
 */
import { failure } from "./failure.ts";

/** When a beacon sends, and how much. */
export interface BeaconOptions {
  /** Milliseconds between an amount and the batch that carries it. Default 1,000. */
  flushInterval?: number | undefined;
  /**
   * The largest amount of one event, a whole number from 1: the parameter `INGEST_MAX_AMOUNT` of the functions. Larger sums become
   * several events. Default 100.
   */
  maxAmount?: number | undefined;
  /** Called with an error `counter/dropped` when a batch is dropped. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
}

/** Counts through the function `ingest`. */
export interface Beacon {
  /**
   * Adds `by` to a counter with the next batch. No I/O.
   *
   * @param counter - the id of the counter
   * @param by - a whole number from 1. Default 1
   * @throws Error `counter/invalid-amount`, also for `undefined`; `counter/invalid-id`
   */
  count(counter: string, by?: number): void;
  /**
   * Sends at once. Resolves when each amount so far is acknowledged or dropped; while the function cannot be reached, later.
   * Cost: 1 request.
   */
  flush(): Promise<void>;
  /** Flushes, and from then on no longer when the page becomes hidden. */
  close(): Promise<void>;
}

/** Amounts that are sent together, or were. The build shortens names with an underscore. */
export interface Batch {
  /** Empty once the batch is dropped. */
  _events: { readonly counter: string; by: number }[];
  /** Of a sealed batch: its key in `localStorage`, and what is sent. */
  _key?: string;
  _body?: string;
  /** Of a sealed batch: resolves when it is acknowledged or dropped. */
  _settled?: Promise<void>;
  /** Of an acknowledged batch: an instant after its commit, in milliseconds since the epoch, by the function's clock. */
  _at?: number;
}

/** A beacon with its internal state. */
export interface BeaconState extends Beacon {
  /** The batches of this page that are neither acknowledged nor dropped. */
  readonly _batches: ReadonlySet<Batch>;
  /** Called after each `count`. */
  _counted?: () => void;
  /** What `_counted` calls. Not made here, because it is only for totals. */
  _listeners?: Set<() => void>;
}

/** So many characters of JSON fill a batch. It has some 400 events then, and 30 kB of UTF-8: fewer than 500, and than 64 kB. */
const FULL = 9_000;

const MAX_BACKOFF_MS = 60_000;

/** 12 hours. Written out, because a bundler would not multiply. */
const MAX_AGE_MS = 43_200_000;

const MAX_WAITING = 50;

/** The keys of the sealed batches that this page sends, from the oldest to the newest. */
const waiting = new Set<string>();

/**
 * Counts through the function `ingest`, without the Firebase SDK and without a user. One request per `flushInterval` carries
 * the amounts of all counters. Its body is plain text, so no preflight request precedes it. When the page becomes hidden, the
 * request is sent at once, and outlives the page: by `fetch` with `keepalive`. Unlike `navigator.sendBeacon`, that tells the
 * outcome to a page that lives on, and sends no cookies to another site.
 *
 * Each amount counts once. A batch that is not acknowledged waits in `localStorage`, and is sent again with the same id: with
 * exponential backoff, and by the next page of the site that calls `beacon` with this URL. Meanwhile, further
 * amounts are added up in memory until the page is hidden or flushes.
 *
 * - A batch waits for 12 hours at most, because the function remembers an id for a week.
 * - At most 50 batches wait. The next attempt drops those beyond, the oldest first.
 * - An answer with a status of 4xx, except 408 and 429, drops its batch, because repeating would not help.
 * - A page that Chrome prerenders sends and stores nothing until it is shown.
 * - A crash loses what is in memory. Without `localStorage`, as in some private windows, all batches are.
 *
 * The page must be served by HTTPS or from localhost. Cost: 1 request per interval with amounts, and per attempt to send again.
 *
 * @param url - of the function `ingest`
 *
 * @example
 * ```ts
 * const site = beacon("https://us-central1-my-project.cloudfunctions.net/tally-ingest");
 * site.count("views:home");
 * ```
 */
export function beacon(
  url: string,
  { flushInterval = 1_000, maxAmount = 100, onError = console.error }: BeaconOptions = {},
): Beacon {
  const prefix = `tally ${url} `;
  const batches = new Set<Batch>();
  let stored: Record<string, string> = {};
  let open: Batch | undefined;
  let failures = 0;
  let timer: unknown;
  /** After a failure, and while the page prerenders: resolves when the next attempt may be made, of any batch. */
  let pause: Promise<unknown> | undefined;

  const deliver = async (batch: Batch): Promise<void> => {
    const { _key, _body } = batch as Required<Batch>;
    waiting.add(_key);
    let round: typeof pause;
    while (round !== pause) {
      round = pause;
      await round;
    }
    let dropped: string | undefined;
    let retryAfter: unknown;
    // The key ends with the time, a space and the id. A time to come means that the clock was set, so the age is not known.
    const age = Math.abs(Date.now() - (_key.slice(-50, -37) as never));
    if ([...waiting].indexOf(_key) < waiting.size - MAX_WAITING || !(age < MAX_AGE_MS)) dropped = "too old";
    else
      try {
        const response = await fetch(url, { method: "POST", keepalive: true, body: _body });
        const text = await response.text();
        if (response.ok) batch._at = JSON.parse(text).at;
        if (/4(?!08|29)../.test(response.status as never)) dropped = `${response.status} ${text}`;
        retryAfter = response.headers.get("retry-after");
      } catch {
        // No answer, or one by another server, such as that of a hotel.
      }
    if (!dropped && !batch._at) {
      // Of the batches that fail together, one counts.
      if (pause === round) failures++;
      const backoff = Math.random() * Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** failures);
      const delay = ((retryAfter as never) * 1_000 || 0) + backoff;
      pause = Promise.all([pause, new Promise((resolve) => setTimeout(resolve, delay))]);
      return deliver(batch);
    }
    waiting.delete(_key);
    delete stored[_key];
    batches.delete(batch);
    failures = 0;
    if (dropped) {
      batch._events = [];
      onError(failure("counter/dropped", dropped));
    }
  };

  const seal = () => {
    if (open) {
      const id = crypto.randomUUID();
      open._key = `${prefix}${Date.now()} ${id}`;
      open._body = JSON.stringify({ id, events: open._events });
      try {
        stored[open._key] = open._body;
      } catch {
        // The storage is full, so the batch waits in memory.
      }
      open._settled = deliver(open);
      open = undefined;
    }
  };

  const tick = () => {
    timer = failures ? setTimeout(tick, flushInterval) : seal();
  };

  const flush = async () => {
    seal();
    await Promise.all([...batches].map(({ _settled }) => _settled));
  };

  const state: BeaconState = {
    _batches: batches,
    count(counter, ...given) {
      let by = (given.length ? given[0] : 1) as number;
      // The function refuses a whole batch for one wrong id.
      if (!counter?.match?.(/^(?!\.{1,2}$|__.*__$)[^/\p{Cc}\p{Cs}]{1,1500}$/su))
        throw failure("counter/invalid-id", `${counter}; pass an id`);
      if (!(by > 0 && by % 1 === 0 && maxAmount > 0)) {
        throw failure("counter/invalid-amount", `${by}; pass a whole number from 1`);
      }
      while (by > 0) {
        if (!open) {
          open = { _events: [] };
          batches.add(open);
        }
        const { _events } = open;
        const part = Math.min(by, maxAmount);
        const event = _events.find((one) => one.counter === counter && one.by + part <= maxAmount);
        if (event) event.by += part;
        else _events.push({ counter, by: part });
        by -= part;
        if (JSON.stringify(_events).length > FULL) seal();
      }
      timer ??= setTimeout(tick, flushInterval);
      state._counted?.();
    },
    flush,
    close() {
      globalThis.removeEventListener?.("visibilitychange", seal);
      clearTimeout(timer as never);
      return flush();
    },
  };

  const start = async () => {
    try {
      // Of the window, after the listeners of the document, so that the batch has what these count.
      addEventListener("visibilitychange", seal);
      if ((globalThis.document as { prerendering?: boolean } | undefined)?.prerendering) {
        // The event does not bubble, so the window captures it.
        pause = new Promise((resolve) => addEventListener("prerenderingchange", resolve, true));
        await pause;
      }
      const held = stored;
      stored = localStorage ?? held;
      for (const key of Object.keys(stored).sort()) {
        if (key.startsWith(prefix) && !waiting.has(key))
          deliver({ _key: key, _body: stored[key] as string, _events: [] });
      }
      // From now on, batches from before the page was shown survive it.
      Object.assign(stored, held);
    } catch {
      // Not a page, or a page that may not store anything.
    }
  };

  start();
  return state;
}
