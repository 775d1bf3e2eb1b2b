/** The counters of a group that have counted most today, this week, this month or ever. */
import { type CounterWindowName, getTopCounters, type ListedCounter } from "firestore-tally";
import { useEffect, useState } from "preact/hooks";
import { WINDOW_TITLES } from "../../../core/src/index.ts";
import type { Connection } from "../firebase/connection.ts";
import { formatTotal } from "../page/format.ts";
import { counterAddress } from "../page/route.ts";

/** The flights that `npm start` replays: one counter for each airport. */
const GROUP = "departures";
const LENGTH = 5;
const REFRESH_MS = 10_000;

type Span = CounterWindowName | "ever";
const NAMES: Record<Span, string> = { ...WINDOW_TITLES, ever: "All time" };

export function Board({ connection, visible }: { connection: Connection; visible: boolean }) {
  const [span, setSpan] = useState<Span>("day");
  const [counters, setCounters] = useState<readonly ListedCounter[]>();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!visible) return;
    let isCurrent = true;
    const read = () =>
      getTopCounters(connection.db, GROUP, { limit: LENGTH, ...(span !== "ever" && { window: span }) }).then(
        (top) => isCurrent && setCounters(top),
        // The next one may succeed.
        () => {},
      );
    read();
    const timer = isShown ? setInterval(read, REFRESH_MS) : undefined;
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [connection, span, visible, isShown]);

  // Only `npm start` has these counters.
  useEffect(() => setShown((before) => before || !!counters?.length), [counters]);
  if (!isShown) return null;
  return (
    <section aria-labelledby="board-title" id="board">
      <div class="caption">
        <h2 id="board-title">Busiest airports</h2>
        <fieldset class="choice">
          <legend class="unseen">Time</legend>
          {Object.entries(NAMES).map(([one, name]) => (
            <label key={one}>
              <input
                type="radio"
                name="board"
                value={one}
                checked={span === one}
                onChange={() => setSpan(one as Span)}
              />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
        <p>
          Departures of flights. One query, at most {LENGTH} reads each time. Each publish keeps these sums beside the
          total, so they cost no write.
        </p>
      </div>
      {counters?.length === 0 && <p class="fine">Nothing was counted yet.</p>}
      <ol class="board">
        {counters?.map((counter) => (
          <li key={counter.id}>
            <bdi title={counter.id}>
              <a href={counterAddress(counter.id)}>{counter.id.slice(GROUP.length + 1)}</a>
            </bdi>
            <b>{formatTotal(span === "ever" ? counter.total : counter.windows[span])}</b>
          </li>
        ))}
      </ol>
    </section>
  );
}
