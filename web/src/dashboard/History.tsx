/** The chart of one counter: the totals that this page has received, or the stored history. */
import { type CounterHistoryPoint, counter, getCounterHistory } from "firestore-tally";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type PublishLog, WINDOW_MS } from "../counter/publishLog.ts";
import { RateChart } from "../counter/RateChart.tsx";
import { pointOf } from "../counter/rate.ts";
import type { Connection } from "../firebase/connection.ts";
import { formatRate, formatWhole } from "../page/format.ts";
import { chartPoints, RANGES, type Range } from "./chartRanges.ts";

export function History({ connection, id, log }: { connection: Connection; id: string; log: PublishLog }) {
  const [range, setRange] = useState<Range>();
  const [history, setHistory] = useState<readonly CounterHistoryPoint[]>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    setHistory(undefined);
    setError(undefined);
    if (!range) return;
    let isCurrent = true;
    const to = new Date();
    const from = new Date(to.getTime() - range.spanMs);
    getCounterHistory(counter(connection.db, id), { from, to, step: range.step }).then(
      (points) => isCurrent && setHistory(points),
      (reason) => isCurrent && setError(reason.message),
    );
    return () => {
      isCurrent = false;
    };
  }, [connection, id, range]);

  const points = useMemo(
    () => (range ? chartPoints(history ?? [], Date.now()) : log.recent.map(pointOf)),
    [range, history, log.recent],
  );
  const highest = Math.max(0, ...points.map(({ rate }) => rate));
  return (
    <section aria-labelledby="history-title">
      <div class="caption">
        <h2 id="history-title">Writes and shards</h2>
        <fieldset class="choice">
          <legend class="unseen">Time range</legend>
          {[undefined, ...RANGES].map((one) => (
            <label key={one?.name}>
              <input
                type="radio"
                name="range"
                value={one?.name ?? "live"}
                checked={range === one}
                onChange={() => setRange(one)}
              />
              <span>{one?.name ?? "Two minutes"}</span>
            </label>
          ))}
        </fieldset>
        <p class="legend">
          <span class="rate">writes per second</span>
          <span class="shards">shards</span>
        </p>
      </div>
      <RateChart
        points={points}
        spanMs={range?.spanMs ?? WINDOW_MS}
        live={!range}
        label={`Writes per second, ${range?.name.toLowerCase() ?? "two minutes"}: at most ${formatRate(highest)}.`}
      />
      <p class="fine" role="status" id="history">
        {error ?? (range ? describeHistory(history) : "From the totals that this page has received; no extra reads.")}
      </p>
    </section>
  );
}

function describeHistory(history: readonly CounterHistoryPoint[] | undefined): string {
  const [first, last] = [history?.[0], history?.at(-1)];
  if (!history) return "Reading…";
  if (!first || !last) return "Nothing was published in this period.";
  if (history.length === 1)
    return `One point: ${formatWhole(last.writes)} writes by then, in ${formatWhole(last.publishes)} publishes.`;
  const added = last.writes - first.writes;
  const publishes = last.publishes - first.publishes;
  return (
    `${formatWhole(history.length)} points, with ${formatWhole(added)} writes in ${formatWhole(publishes)} publishes between ` +
    "the first and the last. Cost: 1 read per hour or day with points."
  );
}
