/** The functions `totals` and `ingest`, as a page's `fetch` sees them, and a clock that tests advance. */
import { vi } from "vitest";

export const TOTALS_URL = "https://example.com/totals";
export const INGEST_URL = "https://example.com/ingest";

export interface ServedTotals {
  /** The counters that the function knows, and what it says of them. It refuses all others. */
  totals: Record<string, { readonly total: number; readonly asOf: number } | null>;
  /** The status of its answers. */
  status: number;
  /** If another server answers: its body. */
  other?: string;
  /** The parameter `ids` of each request. */
  readonly asked: string[];
  /** The events that `ingest` skips of the next batch. */
  skipped?: readonly object[];
  /** The bodies that `ingest` has got. */
  readonly sent: string[];
}

/** Stops the clock, and answers requests until `vi.unstubAllGlobals` and `vi.useRealTimers`. */
export function serveTotals(): ServedTotals {
  const served: ServedTotals = { totals: {}, status: 200, asked: [], sent: [] };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  vi.stubGlobal("fetch", async (address: string, { body }: RequestInit = {}) => {
    if (address.startsWith(INGEST_URL)) {
      served.sent.push(String(body));
      const { skipped } = served;
      delete served.skipped;
      return answer(200, JSON.stringify({ at: 2_000, skipped }));
    }
    const ids = address.replace(/^.*\?ids=/, "");
    served.asked.push(ids);
    const known = ids.split(",").map((id) => [decodeURIComponent(id), served.totals[decodeURIComponent(id)]] as const);
    const status = known.every(([, total]) => total !== undefined) ? served.status : 403;
    const own = status === 200 ? { totals: Object.fromEntries(known) } : { error: "refused" };
    return answer(status, served.other ?? JSON.stringify(own));
  });
  return served;
}

function answer(status: number, text: string): object {
  const headers = new Headers({ "cache-control": "public, max-age=1" });
  return { status, ok: status === 200, headers, text: async () => text };
}

/** Lets the time pass until a condition holds. @throws Error if it does not within two minutes */
export async function advanceUntil(condition: () => boolean, what: string): Promise<void> {
  for (let passed = 0; !condition(); passed += 50) {
    if (passed > 120_000) throw new Error(`waited two minutes for ${what}`);
    await vi.advanceTimersByTimeAsync(50);
  }
}
