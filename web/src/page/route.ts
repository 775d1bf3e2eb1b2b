/** Which view the address asks for. Everything is behind `#`, so that Hosting needs no rewrites. */
import { useEffect, useState } from "preact/hooks";

export type Route =
  | { readonly view: "demo" }
  | { readonly view: "dashboard" }
  | { readonly view: "counter"; id: string };

export function routeOf(hash: string): Route {
  const [, view, id] = /^#\/([^/]*)\/?(.*)$/.exec(hash) ?? [];
  if (view !== "dashboard") return { view: "demo" };
  try {
    return id ? { view: "counter", id: decodeURIComponent(id) } : { view: "dashboard" };
  } catch {
    // An address that somebody has damaged.
    return { view: "dashboard" };
  }
}

export function counterAddress(id: string): string {
  return `#/dashboard/${encodeURIComponent(id)}`;
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
