/** The charts of one counter: the totals that this page has received, or the stored history. */
import { type CounterHistoryPoint, counter, getCounterHistory } from "firestore-tally";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { windowTotals } from "../../../core/src/index.ts";
import { LiveCharts } from "../counter/LiveCharts.tsx";
import type { Published } from "../counter/published.ts";
import type { PublishLog } from "../counter/publishLog.ts";
import type { Connection } from "../firebase/connection.ts";
import { useOnline, useVisible } from "../page/browserState.ts";
import { counterAddress, RANGES, type Range } from "../page/route.ts";
import { useNow } from "../page/useNow.ts";
import { knownHistory, type Point } from "./buckets.ts";
import { DayCharts, MonthCharts } from "./HistoryCharts.tsx";
import { historyFrom, hoursOfDay, isMidnightIn, MOST_READS } from "./periods.ts";

const NAMES: Record<Range, string> = { live: "Live", today: "Today", month: "30 days" };

const REDRAW_MS = 10_000;
const HOUR_MS = 3_600_000;

interface HistoryProps {
  readonly connection: Connection;
  readonly id: string;
  /** Of the address, which a choice replaces. */
  readonly range: Range;
  readonly log: PublishLog;
}

export function History({ connection, id, range, log }: HistoryProps) {
  const now = useNow(REDRAW_MS);
  const { points, error, reads } = useHistory(connection, id, range !== "live", Math.floor(now / HOUR_MS));
  const timeZone = log.last?.windows?.timeZone;
  const history = useMemo(
    () =>
      points &&
      knownHistory(withoutUndated(points, log.last), log.last && pointOf(log.last), (at) => {
        const [midnight] = hoursOfDay(at);
        return timeZone && midnight && isMidnightIn(timeZone, midnight) ? midnight : undefined;
      }),
    [points, log.last, timeZone],
  );
  const Charts = range === "today" ? DayCharts : MonthCharts;
  return (
    <section aria-labelledby="history-title">
      <div class="caption">
        <h2 id="history-title">History</h2>
        <fieldset class="choice">
          <legend class="unseen">Time range</legend>
          {RANGES.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="range"
                value={one}
                checked={range === one}
                onChange={() => location.replace(counterAddress(id, one))}
              />
              <span>{NAMES[one]}</span>
            </label>
          ))}
        </fieldset>
      </div>
      {range === "live" ? (
        <LiveCharts log={log} />
      ) : (
        <Charts key={range} history={history} now={now} notice={points ? undefined : (error ?? "Reading…")} />
      )}
      <p class="fine">
        {range === "live"
          ? `From the totals that this page has received: no extra reads. Today and 30 days cost at most ${MOST_READS} reads an hour.`
          : `Cost: at most ${reads} reads so far. The history is read again each hour; new totals cost nothing more.`}
      </p>
    </section>
  );
}

interface StoredHistory {
  /** `undefined` until they are read. */
  readonly points: readonly CounterHistoryPoint[] | undefined;
  readonly error: string | undefined;
  /** An upper bound. */
  readonly reads: number;
}

/**
 * Reads the history of all periods while it is shown, once an hour: a total that a hidden page has missed belongs to an hour that
 * only the history tells.
 */
function useHistory({ db }: Connection, id: string, isShown: boolean, hour: number): StoredHistory {
  const [history, setHistory] = useState<StoredHistory>({ points: undefined, error: undefined, reads: 0 });
  const isNeeded = useVisible() && isShown;
  const online = useOnline();
  const readHour = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a read that has failed is repeated when the network is back.
  useEffect(() => {
    if (!isNeeded || readHour.current === hour) return;
    readHour.current = hour;
    const from = historyFrom(hour * HOUR_MS);
    const to = new Date((hour + 1) * HOUR_MS);
    getCounterHistory(counter(db, id), { from, to, step: "hour" }).then(
      (points) => setHistory(({ reads }) => ({ points, error: undefined, reads: reads + readsOf(points) })),
      (reason) => {
        readHour.current = undefined;
        setHistory((before) => ({ ...before, error: reason.message }));
      },
    );
  }, [db, id, isNeeded, hour, online]);
  return history;
}

/** The counter document, and a document for each day of UTC; an empty answer costs a read, too. */
function readsOf(points: readonly CounterHistoryPoint[]): number {
  return 1 + Math.max(new Set(points.map(({ at }) => at.toISOString().slice(0, 10))).size, 1);
}

/**
 * The document's own point has the time of its publish and the total of now. So it tells nothing once clients have incremented the
 * document.
 */
function withoutUndated(points: readonly CounterHistoryPoint[], last: Published | undefined) {
  return last && last.asOf > (last.publishedAt ?? 0) ? points.slice(0, -1) : points;
}

function pointOf({ asOf, total, shardCount, windows }: Published): Point {
  return { at: new Date(asOf), total, shardCount, windows: windowTotals(windows, asOf) };
}
