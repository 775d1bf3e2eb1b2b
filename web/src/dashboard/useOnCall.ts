/** Reads what an operator on call looks at, again every half minute while the tab is visible. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Published } from "../counter/published.ts";
import type { Connection } from "../firebase/connection.ts";
import { serverTime } from "../page/serverTime.ts";
import { type OnCallReading, readOnCall } from "./readOnCall.ts";

const EVERY_MS = 30_000;

export interface OnCallState {
  readonly reading: OnCallReading | undefined;
  readonly error: Error | undefined;
}

/**
 * @param enabled  whether the visitor is an operator who sees the page
 * @param shown    the counters of the list; `undefined` until they are known
 * @param onReads   called with the number of reads, each time
 */
export function useOnCall(
  { db }: Connection,
  enabled: boolean,
  shown: readonly Published[] | undefined,
  onReads: (reads: number) => void,
): OnCallState {
  const [state, setState] = useState<OnCallState>({ reading: undefined, error: undefined });
  const latest = useRef({ shown, onReads });
  latest.current = { shown, onReads };
  // A new total of a shown counter is no reason to read again.
  const ids = shown
    ?.map(({ id }) => id)
    .sort()
    .join("\n");
  useEffect(() => {
    if (!enabled || ids === undefined) return setState({ reading: undefined, error: undefined });
    let isCurrent = true;
    const read = () =>
      readOnCall(db, latest.current.shown ?? [], serverTime()).then(
        (reading) => {
          if (!isCurrent) return;
          setState({ reading, error: undefined });
          latest.current.onReads(reading.reads);
        },
        (error) => isCurrent && setState(({ reading }) => ({ reading, error })),
      );
    read();
    const timer = setInterval(read, EVERY_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [db, enabled, ids]);
  return state;
}
