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
 *
 * An amount that is skipped for a limit of the function is counted again, in smaller parts, unless another attempt may have counted it: one
 * without a clear answer, or one of another page. So a batch is stored with a space at its end, and a page that finds the batch
 * removes the space before it sends it. The page that made the batch compares.
 */
import { failure } from "./failure.ts";

/** When a beacon sends, and how much. */
export interface BeaconOptions {
  /** Milliseconds between an amount and the batch that carries it. Default 1,000. */
  flushInterval?: number | undefined;
  /**
   * The largest amount of one event, a whole number from 1: the parameter `INGEST_MAX_AMOUNT` of the functions. Larger sums become
   * several events. Default 100. A beacon learns lower limits from the function's answers.
   */
  maxAmount?: number | undefined;
  /**
   * Called with an error. Default: `console.error`.
   *
   * - `counter/dropped`: amounts of a batch, or all of them, will not be sent again.
   * - `counter/unavailable`: the function has not answered for about a minute. The beacon goes on. Comes again only after an answer.
   */
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
  /** Empty once the batch is dropped. Of an event that was dropped or counted again, `by` is 0. */
  _events: { readonly counter: string; by: number }[];
  /** Of a sealed batch: its key in `localStorage`, which ends with the time and the id; when it was sealed; and what is sent. */
  _key?: string;
  _sealedAt?: number;
  _body?: string;
  /** Of a sealed batch: whether an attempt may have counted it. */
  _mayCount?: boolean;
  /**
   * Of a sealed batch: resolves when it is acknowledged or dropped, and what is counted again, too. With the latest instant of
   * these acknowledgements; `undefined` or `NaN` if something was dropped.
   */
  _settled?: Promise<number | undefined>;
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

/** With the backoff, so many attempts take about a minute. */
const SILENT_ATTEMPTS = 7;

/** An answer of the function. */
interface Answer {
  readonly at?: number;
  readonly error?: string;
  readonly skipped?: {
    readonly index: number;
    readonly status: number;
    readonly error: string;
    readonly maxAmount?: number;
  }[];
}

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
 * - The function skips events that it refuses, such as those of a counter that is not listed. They are dropped, with one error per
 *   batch, counter and reason. An amount that is only too large is counted again in smaller parts, unless it may count already.
 * - A refusal of the function with a status of 4xx, except 408 and 429, drops its batch, because repeating would not help.
 * - A page that Chrome prerenders sends and stores nothing until it is shown.
 * - A crash loses what is in memory. Without `localStorage`, as in some private windows, all batches are.
 *
 * Cost: 1 request per interval with amounts, and per attempt to send again.
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
  /** The attempts in a row without an answer of the function. */
  let silent = 0;
  let timer: unknown;
  /** After a failure, and while the page prerenders: resolves when the next attempt may be made, of any batch. */
  let pause: Promise<unknown> | undefined;

  // Async, so that an exception of the app becomes an unhandled rejection and stops nothing.
  const tell = async (code: string, message: string) => onError(failure(code, message));

  const deliver = async (batch: Batch): Promise<number | undefined> => {
    const { _key, _sealedAt, _body } = batch as Required<Batch>;
    waiting.add(_key);
    let round: typeof pause;
    while (round !== pause) {
      round = pause;
      await round;
    }
    let answer: Answer = {};
    let status = 0;
    let dropped: string | undefined;
    let retryAfter: unknown;
    // A time to come means that the clock was set, so the age is not known.
    const age = Math.abs(Date.now() - _sealedAt);
    if ([...waiting].indexOf(_key) < waiting.size - MAX_WAITING || !(age < MAX_AGE_MS)) dropped = "too old";
    else
      try {
        const response = await fetch(url, { method: "POST", keepalive: true, body: _body });
        status = response.status;
        retryAfter = response.headers.get("retry-after");
        answer = JSON.parse(await response.text()) || answer;
        if (answer.error && /4(?!08|29)../.test(status as never)) dropped = `${status} ${answer.error}`;
        if (response.ok && answer.at) {
          batch._events = JSON.parse(_body).events;
          batch._at = answer.at;
        }
      } catch {
        // No answer, or one by another server, such as that of a hotel.
      }
    if (batch._at || answer.error) silent = 0;
    if (!dropped && !batch._at) {
      batch._mayCount ||= status !== 429;
      // Of the batches that fail together, one counts.
      if (pause === round) {
        failures++;
        if (!answer.error && globalThis.navigator?.onLine !== false && ++silent === SILENT_ATTEMPTS)
          tell("counter/unavailable", `${url} does not answer, so amounts wait`);
      }
      const backoff = Math.random() * Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** failures);
      const delay = ((retryAfter as never) * 1_000 || 0) + backoff;
      pause = Promise.all([pause, new Promise((resolve) => setTimeout(resolve, delay))]);
      return deliver(batch);
    }
    const isUncounted = !batch._mayCount && stored[_key] === _body;
    waiting.delete(_key);
    delete stored[_key];
    batches.delete(batch);
    failures = 0;
    const { skipped = [] } = answer;
    /** Amounts by counter and reason. */
    const lost: Record<string, number> = {};
    for (const { index, status, error, maxAmount: limit } of skipped) {
      const event = batch._events[index] as Batch["_events"][0];
      const { counter, by } = event;
      event.by = 0;
      if (limit) maxAmount = Math.min(maxAmount, limit);
      if (isUncounted && (status === 429 || (limit as number) < by)) state.count(counter, by);
      else {
        const reason = `${counter}: ${status} ${error.replace(/^\S+?\]\W+/, "")}`;
        lost[reason] = by + (lost[reason] ?? 0);
      }
    }
    if (dropped) {
      batch._events = [];
      tell("counter/dropped", dropped);
    }
    for (const reason in lost) {
      dropped = `${lost[reason]} for ${reason}`;
      tell("counter/dropped", dropped);
    }
    const others = skipped[0] ? await settled() : [];
    return dropped ? undefined : Math.max(batch._at ?? 0, ...others);
  };

  const seal = () => {
    if (open) {
      // `randomUUID` is missing in pages that are not secure.
      const id = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(27))));
      open._sealedAt = Date.now();
      open._key = `${prefix}${open._sealedAt} ${id}`;
      open._body = `${JSON.stringify({ id, skipInvalid: true, events: open._events })} `;
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

  const settled = () => {
    seal();
    return Promise.all([...batches].map(({ _settled }) => _settled as never));
  };

  const flush = async () => {
    await settled();
  };

  const state: BeaconState = {
    _batches: batches,
    count(counter, ...given) {
      let by = (given.length ? given[0] : 1) as number;
      if (!counter?.match?.(/^(?!\.{1,2}$|__.*__$)[^/\p{Cc}\p{Cs}]{1,1500}$/su))
        throw failure("counter/invalid-id", `${counter}; pass an id`);
      if (!(by > 0 && by % 1 === 0 && maxAmount > 0)) {
        throw failure("counter/invalid-amount", `${by}; pass a whole number from 1`);
      }
      while (by > 0) {
        const part = Math.min(by, maxAmount);
        if (!open) {
          open = { _events: [] };
          batches.add(open);
        }
        const { _events } = open;
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
        if (key.startsWith(prefix) && !waiting.has(key)) {
          const _body = (stored[key] as string).trim();
          stored[key] = _body;
          deliver({
            _key: key,
            _sealedAt: Number.parseFloat(key.slice(prefix.length)),
            _body,
            _events: [],
            _mayCount: true,
          });
        }
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
