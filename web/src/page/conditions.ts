/** What the page must know of the browser around it: whether it is seen, online, and wants motion. */
import { useEffect, useState } from "preact/hooks";

interface Condition {
  readonly holds: () => boolean;
  readonly target: EventTarget;
  /** Those after which it may hold or not. */
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

/** Whether anybody can see the page. Nothing is watched while nobody can. */
export function useVisible(): boolean {
  return useCondition(visible);
}

export function useOnline(): boolean {
  return useCondition(online);
}

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export function wantsMotion(): boolean {
  return !reduced.matches;
}

/** Calls `change` when the system turns dark or light. @returns a function that ends it */
export function onTheme(change: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", change);
  return () => dark.removeEventListener("change", change);
}
