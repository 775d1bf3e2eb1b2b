/**
 * Pages of a site that send to one server, in virtual time. Each page runs the beacon's code by itself, with its own memory and
 * timers; all share the storage of the browser and the network. A page that is closed runs no further line, and the requests
 * that it has sent arrive.
 */
import { buildSync } from "esbuild";
import { type Random, randomFor } from "../../../core/testing/random.ts";
import type { Beacon, BeaconOptions } from "./beacon.ts";

const MINUTE = 60_000;

/** So long the server remembers the id of a batch. */
const RECEIPT_LIFETIME = 8 * 24 * 60 * MINUTE;

/** The prefix of counters that the server does not list. */
export const UNLISTED = "unlisted:";

/** What becomes of a request. */
export type Weather =
  /** It counts, and is answered. */
  | "fine"
  /** It does not reach the server. */
  | "offline"
  /** It counts, and the answer is lost. */
  | "cut"
  /** Another server answers, such as that of a hotel: 200 or a refusal. */
  | "portal"
  | "wall"
  /** It does not count. */
  | "busy"
  | "broken"
  /** It counts, and the answer says that the server does not know. */
  | "unsure"
  /** It is refused for good. */
  | "refused";

/** An answer: its status, and a body. */
type Answer = readonly [status: number, body: string];

/** The answers that do not depend on the batch; `undefined` if there is none. */
const ANSWERS: Readonly<Record<Exclude<Weather, "fine">, Answer | undefined>> = {
  portal: [200, "<html>Welcome</html>"],
  wall: [403, "null"],
  busy: [429, '{"error": "too much"}'],
  broken: [500, '{"at": 1}'],
  unsure: [503, '{"error": "may count"}'],
  refused: [403, '{"error": "origin"}'],
  offline: undefined,
  cut: undefined,
};

interface SentEvent {
  readonly counter: string;
  readonly by: number;
}

interface Sent {
  readonly at: number;
  readonly body: string;
}

export interface Page {
  readonly beacon: Beacon;
  /** What `onError` was told. */
  readonly errors: unknown[];
  /** Tells the page that it has become hidden. */
  hide(): Promise<void>;
  /** Shows a page that prerenders. As in Chromium, it becomes visible before it no longer prerenders. */
  show(): Promise<void>;
  /** Hides the page and ends it. */
  close(): Promise<void>;
}

const URL = "https://example.com/ingest";

let code: string | undefined;

/** Keeps the beacon's internal names, which the build shortens. */
function beaconCode(): string {
  const entryPoints = [`${import.meta.dirname}/beacon.ts`];
  const { outputFiles } = buildSync({ entryPoints, bundle: true, format: "iife", globalName: "entry", write: false });
  return `${outputFiles[0]?.text}; return entry.beacon;`;
}

export class SimulatedSite {
  /** Of the browser. `undefined`: pages may not store anything. */
  storage: Record<string, string> | undefined = {};
  weather: Weather = "fine";
  /** Limits of the server: the amounts of an event and of a batch. */
  maxAmount = Number.POSITIVE_INFINITY;
  maxSum = Number.POSITIVE_INFINITY;
  /** Of `navigator`. */
  onLine: boolean | undefined;
  /** The header of answers that refuse for now, in seconds. */
  retryAfter: string | undefined;
  now = 1_767_225_600_000;
  /** What the server has got, also twice. */
  readonly sent: Sent[] = [];
  /** What the server has counted, by counter. */
  readonly counted: Record<string, number> = {};
  readonly #receipts = new Map<string, Sent>();
  /** The sums of batches that were refused for good, by id. */
  readonly #refusals = new Map<string, number>();
  readonly #random: Random;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  constructor(seed: number) {
    this.#random = randomFor(seed, "site");
  }

  /** The sum of batches that were refused for good and have not counted, neither before nor after. */
  get refused(): number {
    return [...this.#refusals].reduce((sum, [id, by]) => (this.#receipts.has(id) ? sum : sum + by), 0);
  }

  open(options: BeaconOptions = {}, { prerendering = false } = {}): Page {
    let isAlive = true;
    const document = { prerendering };
    const listeners = new Set<{ type: string; listener: () => void }>();
    const dispatch = (type: string) => {
      for (const one of listeners) if (one.type === type) one.listener();
    };
    const errors: unknown[] = [];
    const later = (run: () => void, delay: number) => {
      if (isAlive) this.#timers.push({ at: this.now + Math.max(delay, 0), run: () => isAlive && run() });
      return 1;
    };
    const site = this;
    const globals = {
      // A promise that never settles, for a page that has ended.
      fetch: (_url: string, { body }: { body: string }) =>
        new Promise((resolve, reject) => {
          const latency = 20 + 200 * this.#random.next();
          this.#timers.push({
            at: this.now + latency,
            run: () => {
              const answer = this.#receive(body);
              later(() => (answer ? resolve(answer) : reject(new TypeError("Failed to fetch"))), latency);
            },
          });
        }),
      localStorage: this.storage,
      addEventListener: (type: string, listener: () => void) => listeners.add({ type, listener }),
      setTimeout: later,
      Date: { now: () => Math.floor(this.now) },
      Math: Object.assign(Object.create(Math), { random: () => this.#random.next() }),
      // As in a page that is not secure.
      crypto: { getRandomValues: (bytes: Uint8Array) => bytes.map(() => 256 * this.#random.next()) },
      globalThis: {
        document,
        navigator: {
          get onLine() {
            return site.onLine;
          },
        },
        removeEventListener(type: string, listener: () => void) {
          for (const one of listeners) if (one.type === type && one.listener === listener) listeners.delete(one);
        },
      },
    };
    code ??= beaconCode();
    const start = new Function(...Object.keys(globals), code)(...Object.values(globals));
    const beacon: Beacon = start(URL, { onError: (error: unknown) => errors.push(error), ...options });
    const page: Page = {
      beacon,
      errors,
      async hide() {
        dispatch("visibilitychange");
        await site.#settle();
      },
      async show() {
        dispatch("visibilitychange");
        document.prerendering = false;
        dispatch("prerenderingchange");
        await site.#settle();
      },
      async close() {
        await page.hide();
        isAlive = false;
      },
    };
    return page;
  }

  /** Advances the time by a duration, and runs what comes due. */
  async advance(duration: number): Promise<void> {
    const end = this.now + duration;
    await this.#settle();
    for (;;) {
      const next = this.#timers.reduce((first, one) => (one.at < first.at ? one : first), { at: end, run: () => {} });
      if (!this.#timers.includes(next)) break;
      this.now = Math.max(next.at, this.now);
      this.#timers = this.#timers.filter((one) => one !== next);
      next.run();
      await this.#settle();
    }
    this.now = end;
  }

  /** All microtasks. */
  async #settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  #receive(body: string): object | undefined {
    const { weather } = this;
    let counted: Answer | undefined;
    if (weather !== "offline" && weather !== "portal" && weather !== "wall") {
      this.sent.push({ at: this.now, body });
      if (weather === "refused") this.#refuse(body);
      else if (weather !== "busy" && weather !== "broken") counted = this.#count(body);
    }
    const answer = weather === "fine" ? counted : ANSWERS[weather];
    if (!answer) return undefined;
    const [status, text] = answer;
    const retryAfter = status === 429 || status === 503 ? (this.retryAfter ?? null) : null;
    return { status, ok: status === 200, text: async () => text, headers: { get: () => retryAfter } };
  }

  /** Counts a batch, or refuses it, as docs/events.md says. */
  #count(body: string): Answer {
    const { id, skipInvalid, events } = JSON.parse(body) as { id: string; skipInvalid?: boolean; events: SentEvent[] };
    let sum = 0;
    const skipped = events.flatMap(({ counter, by }, index) => {
      if (counter.startsWith(UNLISTED)) return { index, status: 403, error: `events[${index}].counter is not listed` };
      const maxAmount = Math.min(this.maxAmount, this.maxSum);
      if (by > maxAmount) return { index, status: 400, error: `events[${index}].by is too large`, maxAmount };
      if (sum + by > this.maxSum) return { index, status: 429, error: `events[${index}]: the batch adds too much` };
      sum += by;
      return [];
    });
    if (skipped[0] && !skipInvalid) return [skipped[0].status, JSON.stringify(skipped[0])];
    const valid = events.filter((_, index) => !skipped.some((one) => one.index === index));
    const known = this.#receipts.get(id);
    // A page that finds a batch may change its white space.
    if (known && known.body !== body.trim()) throw new Error(`the id ${id} has come with other events`);
    const isRepeat = known !== undefined && this.now < known.at + RECEIPT_LIFETIME;
    if (!isRepeat && valid.length > 0) {
      this.#receipts.set(id, { at: this.now, body: body.trim() });
      for (const { counter, by } of valid) this.counted[counter] = (this.counted[counter] ?? 0) + by;
    }
    const duplicates = isRepeat ? valid.length : 0;
    return [200, JSON.stringify({ at: 1, counted: valid.length - duplicates, duplicates, skipped })];
  }

  #refuse(body: string): void {
    const { id, events } = JSON.parse(body) as { id: string; events: SentEvent[] };
    this.#refusals.set(id, sumOf(events));
  }
}

function sumOf(events: readonly SentEvent[]): number {
  return events.reduce((sum, { by }) => sum + by, 0);
}
