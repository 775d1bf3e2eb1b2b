/**
 * Asks the function `totals` for the counters of a page: one request per URL and interval, for up to 100 counters, fewer with long ids.
 *
 * The function refuses a request for a counter that is not listed. Then each counter is asked for by itself, so that the others still
 * have their totals; a counter that is refused by itself is no longer asked for.
 */
import { callSafely } from "./callSafely.ts";
import { failure } from "./failure.ts";

/** What the function says of a counter. */
export interface Published {
  readonly total: number;
  readonly asOf: number;
}

/** Wants to know the total of a counter. */
export interface Watch {
  readonly id: string;
  /** @param total  `null` for a counter that was never published */
  received(total: Published | null): void;
  /**
   * @param error     after a status of 4xx, except 408 and 429, nothing follows
   * @param failures  of the URL, in a row
   */
  failed(error: Failure, failures: number): void;
}

type Failure = Error & { readonly status: number };

interface Poller {
  readonly watches: Set<Watch>;
  /** Asks at once, or as soon as an answer is there; after a failure, when it is time to ask again. */
  now(): void;
  stop(): void;
}

const MAX_IDS = 100;

/** The longest parameter `ids`, in characters. Servers and proxies accept at least 8 kB of URL and headers. */
const MAX_IDS_LENGTH = 4_000;

const MIN_INTERVAL_MS = 1_000;

const MAX_BACKOFF_MS = 60_000;

const pollers = new Map<string, Poller>();

/** @returns a function that ends the watch */
export function poll(url: string, watch: Watch): () => void {
  const poller = pollers.get(url) ?? createPoller(url);
  pollers.set(url, poller);
  poller.watches.add(watch);
  poller.now();
  return () => {
    poller.watches.delete(watch);
    if (poller.watches.size > 0 || pollers.get(url) !== poller) return;
    pollers.delete(url);
    poller.stop();
  };
}

function createPoller(url: string): Poller {
  const watches = new Set<Watch>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let mustAskAgain = false;
  let failures = 0;

  const now = () => {
    mustAskAgain = isAsking;
    clearTimeout(timer);
    // Watches that begin together share a request.
    if (!isAsking) timer = setTimeout(ask);
  };

  const ask = async () => {
    // The page asks when it is visible or online again.
    if (globalThis.document?.hidden || globalThis.navigator?.onLine === false) return;
    isAsking = true;
    mustAskAgain = false;
    let interval = MIN_INTERVAL_MS;
    let failed = false;
    const askFor = async (ids: readonly string[]): Promise<void> => {
      const answer = await read(url, ids);
      if ("totals" in answer) interval = Math.max(interval, answer.maxAge);
      else if (isFinal(answer.status) && ids.length > 1) {
        for (const id of ids) await askFor([id]);
        return;
      } else failed ||= !isFinal(answer.status);
      for (const id of ids) settle(id, answer);
    };
    const ids = [...new Set([...watches].map(({ id }) => id))].sort();
    while (ids.length > 0) {
      let size = Math.min(ids.length, MAX_IDS);
      while (size > 1 && idsParameter(ids.slice(0, size)).length > MAX_IDS_LENGTH) size--;
      await askFor(ids.splice(0, size));
    }
    failures = failed ? failures + 1 : 0;
    if (failed)
      interval = Math.max(interval, Math.min(1_000 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2));
    isAsking = false;
    if (mustAskAgain && !failed) now();
    else if (watches.size > 0) timer = setTimeout(ask, interval);
  };

  const settle = (id: string, answer: Answer) => {
    for (const watch of [...watches].filter((one) => one.id === id)) {
      // The watch before may have ended this one.
      if (!watches.has(watch)) continue;
      if ("totals" in answer) callSafely(() => watch.received(answer.totals[id] ?? null));
      else {
        if (isFinal(answer.status)) watches.delete(watch);
        callSafely(() => watch.failed(answer, failures + 1));
      }
    }
  };

  globalThis.document?.addEventListener("visibilitychange", now);
  globalThis.addEventListener?.("online", now);

  return {
    watches,
    now() {
      // After a failure there is a time to ask again.
      if (failures === 0 || isAsking) now();
    },
    stop() {
      clearTimeout(timer);
      globalThis.document?.removeEventListener("visibilitychange", now);
      globalThis.removeEventListener?.("online", now);
    },
  };
}

type Answer =
  | { readonly totals: Readonly<Record<string, Published | null>> /** Milliseconds. */; readonly maxAge: number }
  | Failure;

function idsParameter(ids: readonly string[]): string {
  return ids.map(encodeURIComponent).join();
}

/** Never rejects. */
async function read(url: string, ids: readonly string[]): Promise<Answer> {
  let status = 0;
  let text = `no answer of ${url}; check its deployment, content blockers and the CSP`;
  try {
    const response = await fetch(`${url}?ids=${idsParameter(ids)}`);
    if (!response.ok && !isFinal(response.status)) status = response.status;
    const { totals, error } = JSON.parse(await response.text());
    if (error) {
      status = response.status;
      text = error;
    } else if (ids.every((id) => id in totals)) {
      const [, seconds] = /max-age=(\d+)/.exec(response.headers.get("cache-control") ?? "") ?? [];
      return { totals, maxAge: 1_000 * Number(seconds ?? 0) };
    }
  } catch {
    // No answer, or one by another server, such as that of a hotel. Such a server refuses nothing for good.
  }
  return Object.assign(failure("counter/unavailable", `${status} ${text}`), { status });
}

/** Whether asking again would not help. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
