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

/** What the dashboard lists. */
export interface ListingQuery {
  readonly search: string;
  readonly order: Order;
}

export type Route =
  | { readonly view: "demo" }
  | ({ readonly view: "dashboard" } & ListingQuery)
  | { readonly view: "counter"; readonly id: string };

export function routeOf(hash: string): Route {
  const [, view, id, query] = /^#\/([^/?]*)\/?([^?]*)(?:\?(.*))?$/.exec(hash) ?? [];
  if (view !== "dashboard") return { view: "demo" };
  const counter = decode(id ?? "");
  if (isDocumentId(counter)) return { view: "counter", id: counter };
  const parameters = new URLSearchParams(query);
  const order = ORDERS.find((one) => one === parameters.get("order")) ?? "total";
  return { view: "dashboard", search: parameters.get("find") ?? "", order };
}

/** @returns `""` for malformed text */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function counterAddress(id: string): string {
  return `#/dashboard/${encodeURIComponent(id)}`;
}

export function dashboardAddress({ search, order }: ListingQuery): string {
  const parameters = new URLSearchParams({ ...(search && { find: search }), ...(order !== "total" && { order }) });
  return parameters.size > 0 ? `#/dashboard?${parameters}` : "#/dashboard";
}

/** Puts the query into the address, so that a reload, a link and going back from a counter restore it. */
export function saveQuery(query: ListingQuery): void {
  history.replaceState(null, "", dashboardAddress(query));
}

/** The route, and how often the visitor has changed the address: {@link saveQuery} does not count. */
export function useRoute(): [Route, visit: number] {
  const [{ hash, visit }, setAddress] = useState({ hash: location.hash, visit: 0 });
  useEffect(() => {
    // Not `location.hash`, which `saveQuery` may have replaced by now.
    const update = ({ newURL }: HashChangeEvent) =>
      setAddress((before) => ({ hash: new URL(newURL).hash, visit: before.visit + 1 }));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return [routeOf(hash), visit];
}
