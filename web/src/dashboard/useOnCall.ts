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
  const readAt = useRef(0);
  const isReady = enabled && shown !== undefined;
  useEffect(() => {
    if (!isReady) return;
    let isCurrent = true;
    const read = () => {
      readAt.current = Date.now();
      readOnCall(db, latest.current.shown ?? [], serverTime()).then(
        (reading) => {
          latest.current.onReads(reading.reads);
          if (isCurrent) setState({ reading, error: undefined });
        },
        (error) => isCurrent && setState(({ reading }) => ({ reading, error })),
      );
    };
    // Back from another tab, the last reading may still be young.
    const first = setTimeout(read, readAt.current + EVERY_MS - Date.now());
    const timer = setInterval(read, EVERY_MS);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(timer);
    };
  }, [db, isReady]);
  return state;
}
