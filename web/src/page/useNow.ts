/** The server's time, for ages that are shown. */
import { useEffect, useState } from "preact/hooks";
import { serverTime } from "./serverTime.ts";

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(serverTime);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverTime()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
