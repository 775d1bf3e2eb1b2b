/** Looks around for an operator on call, and again every half minute while the tab is visible. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Published } from "../counter/published.ts";
import type { Connection } from "../firebase/connection.ts";
import { serverTime } from "../page/serverTime.ts";
import { type Look, lookAround } from "./lookAround.ts";

const EVERY_MS = 30_000;

export interface OnCallState {
  readonly look: Look | undefined;
  readonly error: Error | undefined;
}

/**
 * @param enabled  whether the visitor is an operator who sees the page
 * @param shown    the counters of the list; `undefined` until they are known
 * @param looked   called with the reads of each look
 */
export function useOnCall(
  { db }: Connection,
  enabled: boolean,
  shown: readonly Published[] | undefined,
  looked: (reads: number) => void,
): OnCallState {
  const [state, setState] = useState<OnCallState>({ look: undefined, error: undefined });
  const latest = useRef({ shown, looked });
  latest.current = { shown, looked };
  // A new total of a shown counter is no reason to look again.
  const ids = shown
    ?.map(({ id }) => id)
    .sort()
    .join("\n");
  useEffect(() => {
    if (!enabled || ids === undefined) return setState({ look: undefined, error: undefined });
    let isCurrent = true;
    const lookAgain = () =>
      lookAround(db, latest.current.shown ?? [], serverTime()).then(
        (look) => {
          if (!isCurrent) return;
          setState({ look, error: undefined });
          latest.current.looked(look.reads);
        },
        (error) => isCurrent && setState(({ look }) => ({ look, error })),
      );
    lookAgain();
    const timer = setInterval(lookAgain, EVERY_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [db, enabled, ids]);
  return state;
}
