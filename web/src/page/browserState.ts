/** The state of the browser around the page: visible, online, reduced motion, colour scheme. */
import { useEffect, useState } from "preact/hooks";

interface Condition {
  readonly holds: () => boolean;
  readonly target: EventTarget;
  /** The events that can change it. */
  readonly events: readonly string[];
}

function useCondition(condition: Condition): boolean {
  const [holds, setHolds] = useState(condition.holds);
  useEffect(() => {
    const update = () => setHolds(condition.holds());
    for (const event of condition.events) condition.target.addEventListener(event, update);
    update();
    return () => {
      for (const event of condition.events) condition.target.removeEventListener(event, update);
    };
  }, [condition]);
  return holds;
}

const visible: Condition = {
  holds: () => document.visibilityState === "visible",
  target: document,
  events: ["visibilitychange"],
};

const online: Condition = { holds: () => navigator.onLine, target: window, events: ["online", "offline"] };

export function isVisible(): boolean {
  return visible.holds();
}

/** Whether the tab is visible. Hidden tabs watch nothing. */
export function useVisible(): boolean {
  return useCondition(visible);
}

export function useOnline(): boolean {
  return useCondition(online);
}

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export function allowsMotion(): boolean {
  return !reducedMotion.matches;
}

/** Calls `change` when the system switches between dark and light, or forces its own colours. @returns a function that ends it */
export function onColoursChange(change: () => void): () => void {
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", change);
  return () => {
    for (const query of queries) query.removeEventListener("change", change);
  };
}
