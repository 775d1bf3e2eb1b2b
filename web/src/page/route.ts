/** Which view the address asks for. Everything is behind `#`, so that Hosting needs no rewrites. */
import { useEffect, useState } from "preact/hooks";

/** How the counters of the dashboard can be ordered. */
export const ORDERS = ["total", "rate", "id"] as const;
export type Order = (typeof ORDERS)[number];

/** What the dashboard is asked for. */
export interface Question {
  readonly search: string;
  readonly order: Order;
}

export type Route =
  | { readonly view: "demo" }
  | ({ readonly view: "dashboard" } & Question)
  | { readonly view: "counter"; readonly id: string };

export function routeOf(hash: string): Route {
  const [, view, id, asked] = /^#\/([^/?]*)\/?([^?]*)(?:\?(.*))?$/.exec(hash) ?? [];
  if (view !== "dashboard") return { view: "demo" };
  const counter = decoded(id ?? "");
  if (isId(counter)) return { view: "counter", id: counter };
  const parameters = new URLSearchParams(asked);
  const order = ORDERS.find((one) => one === parameters.get("order")) ?? "total";
  return { view: "dashboard", search: parameters.get("find") ?? "", order };
}

/** @returns `""` for what somebody has damaged */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Whether a document may be called so. https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields */
export function isId(text: string): boolean {
  return text !== "" && !/\/|^\.\.?$|^__.*__$/s.test(text);
}

export function counterAddress(id: string): string {
  return `#/dashboard/${encodeURIComponent(id)}`;
}

export function dashboardAddress({ search, order }: Question): string {
  const parameters = new URLSearchParams({ ...(search && { find: search }), ...(order !== "total" && { order }) });
  return parameters.size > 0 ? `#/dashboard?${parameters}` : "#/dashboard";
}

/** Puts what is asked for into the address, so that a reload, a link and the way back from a counter find it. */
export function keep(question: Question): void {
  history.replaceState(null, "", dashboardAddress(question));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return routeOf(hash);
}
