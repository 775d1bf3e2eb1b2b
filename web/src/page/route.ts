/** Which view the address names. Everything is behind `#`, so that Hosting needs no rewrites. */
import { useEffect, useState } from "preact/hooks";
import { type CounterWindowName, isDocumentId, WINDOW_NAMES } from "../../../core/src/index.ts";

/** The orders of the dashboard's counters. */
export const ORDERS = ["total", "rate", ...WINDOW_NAMES, "id"] as const;
export type Order = (typeof ORDERS)[number];

/** The window that an order is about. */
export function windowOf(order: Order): CounterWindowName | undefined {
  return WINDOW_NAMES.find((window) => window === order);
}

/** The times that the charts of a counter show. */
export const RANGES = ["live", "today", "month"] as const;
export type Range = (typeof RANGES)[number];

/** What the dashboard lists. */
export interface ListingQuery {
  readonly search: string;
  readonly order: Order;
  /** The counter after which the page of the list begins; `""` for the first page. */
  readonly after: string;
}

export type Route =
  | { readonly view: "demo" }
  | ({ readonly view: "dashboard" } & ListingQuery)
  | { readonly view: "counter"; readonly id: string; readonly range: Range }
  /** There is no such view. */
  | { readonly view: "unknown" };

export function routeOf(hash: string): Route {
  if (["", "#", "#/"].includes(hash)) return { view: "demo" };
  const match = /^#\/dashboard(?:\/([^?]*))?(?:\?(.*))?$/.exec(hash);
  if (!match) return { view: "unknown" };
  const [, id, query] = match;
  const parameters = new URLSearchParams(query);
  if (id) {
    const counter = decode(id);
    const range = RANGES.find((one) => one === parameters.get("range")) ?? "live";
    return isDocumentId(counter) ? { view: "counter", id: counter, range } : { view: "unknown" };
  }
  const order = ORDERS.find((one) => one === parameters.get("order")) ?? "total";
  const after = parameters.get("after") ?? "";
  return { view: "dashboard", search: parameters.get("find") ?? "", order, after: isDocumentId(after) ? after : "" };
}

/** @returns `""` for malformed text */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function counterAddress(id: string, range: Range = "live"): string {
  return `#/dashboard/${encodeURIComponent(id)}${range === "live" ? "" : `?range=${range}`}`;
}

export function dashboardAddress({ search, order, after }: ListingQuery): string {
  const parameters = new URLSearchParams({
    ...(search && { find: search }),
    ...(order !== "total" && { order }),
    ...(after && { after }),
  });
  // Not `size`, which older browsers lack.
  const text = parameters.toString();
  return text ? `#/dashboard?${text}` : "#/dashboard";
}

/** The route of the address, which alone tells what the page shows: a reload, a link and going back restore it. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return routeOf(hash);
}
