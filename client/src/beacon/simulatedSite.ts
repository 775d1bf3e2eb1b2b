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

/** What becomes of a request. */
export type Weather =
  /** It counts, and is answered. */
  | "fine"
  /** It does not reach the server. */
  | "offline"
  /** It counts, and the answer is lost. */
  | "cut"
  /** Another server answers 200, such as that of a hotel. */
  | "portal"
  /** It does not count. */
  | "busy"
  | "broken"
  /** It counts, and the answer says that the server does not know. */
  | "unsure"
  /** It is refused for good. */
  | "refused";

/** An answer: its status, and a body. */
const ANSWERS: Readonly<Record<Weather, readonly [status: number, body: string] | undefined>> = {
  fine: [200, '{"at": 1}'],
  portal: [200, "<html>Welcome</html>"],
  busy: [429, "{}"],
  broken: [500, '{"at": 1}'],
  unsure: [503, "{}"],
  refused: [403, "{}"],
  offline: undefined,
  cut: undefined,
};

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
  /** Ends the page without telling it. */
  crash(): void;
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
      Date: { now: () => this.now },
      Math: Object.assign(Object.create(Math), { random: () => this.#random.next() }),
      crypto: { randomUUID: () => this.#uuid() },
      globalThis: {
        document,
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
      crash() {
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
    if (weather !== "offline" && weather !== "portal") {
      this.sent.push({ at: this.now, body });
      if (weather === "refused") this.#refuse(body);
      else if (weather !== "busy" && weather !== "broken") this.#count(body);
    }
    const answer = ANSWERS[weather];
    if (!answer) return undefined;
    const [status, text] = answer;
    const retryAfter = status === 429 || status === 503 ? (this.retryAfter ?? null) : null;
    return { status, ok: status === 200, text: async () => text, headers: { get: () => retryAfter } };
  }

  #count(body: string): void {
    const { id, events } = JSON.parse(body);
    const known = this.#receipts.get(id);
    if (known && known.body !== body) throw new Error(`the id ${id} has come with other events`);
    if (known && this.now < known.at + RECEIPT_LIFETIME) return;
    this.#receipts.set(id, { at: this.now, body });
    for (const { counter, by } of events) this.counted[counter] = (this.counted[counter] ?? 0) + by;
  }

  #refuse(body: string): void {
    const { id, events } = JSON.parse(body) as { id: string; events: { by: number }[] };
    this.#refusals.set(
      id,
      events.reduce((sum, { by }) => sum + by, 0),
    );
  }

  #uuid(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#random.next() * 16).toString(16)).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }
}
