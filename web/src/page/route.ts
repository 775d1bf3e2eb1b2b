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
    const counter = decodeURIComponent(id ?? "");
    return isId(counter) ? { view: "counter", id: counter } : { view: "dashboard" };
  } catch {
    // An address that somebody has damaged.
    return { view: "dashboard" };
  }
}

/** Whether a document may be called so. https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields */
export function isId(text: string): boolean {
  return text !== "" && !/\/|^\.\.?$|^__.*__$/s.test(text);
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
