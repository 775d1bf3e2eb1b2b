/** The line of one counter: what this page sees, or what the functions have kept of its past. */
import { counter, counterHistory, type HistoryPoint } from "firestore-tally";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Seen, WINDOW_MS } from "../counter/history.ts";
import { RateChart } from "../counter/RateChart.tsx";
import type { Backend } from "../firebase/backend.ts";
import { formatRate, formatWhole } from "../page/format.ts";
import { pointsOf, RANGES, type Range } from "./ranges.ts";

export function History({ backend, id, seen }: { backend: Backend; id: string; seen: Seen }) {
  const [range, setRange] = useState<Range>();
  const [history, setHistory] = useState<readonly HistoryPoint[]>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    setHistory(undefined);
    setError(undefined);
    if (!range) return;
    let isCurrent = true;
    const to = new Date();
    const from = new Date(to.getTime() - range.spanMs);
    counterHistory(counter(backend.db, id), { from, to, step: range.step }).then(
      (points) => isCurrent && setHistory(points),
      (reason) => isCurrent && setError(reason.message),
    );
    return () => {
      isCurrent = false;
    };
  }, [backend, id, range]);

  const points = useMemo(
    () =>
      range
        ? pointsOf(history ?? [])
        : seen.recent.map(({ asOf, rate, shardCount }) => ({ at: asOf, rate, shardCount })),
    [range, history, seen.recent],
  );
  const most = Math.max(0, ...points.map(({ rate }) => rate));
  return (
    <section aria-labelledby="history-title">
      <div class="caption">
        <h2 id="history-title">Writes and shards</h2>
        <fieldset class="choice">
          <legend class="unseen">How far back</legend>
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
        label={`Writes per second, ${range?.name.toLowerCase() ?? "two minutes"}: ${formatRate(most)} at most.`}
      />
      <p class="fine" role="status" id="history">
        {error ?? (range ? told(history) : "As this page has seen it: nothing more is read for it.")}
      </p>
    </section>
  );
}

function told(history: readonly HistoryPoint[] | undefined): string {
  const [first, last] = [history?.[0], history?.at(-1)];
  if (!history) return "Reading…";
  if (!first || !last) return "Nothing was published in this time.";
  if (history.length === 1)
    return `One point: ${formatWhole(last.writes)} writes by then, in ${formatWhole(last.publishes)} publishes.`;
  const added = last.writes - first.writes;
  const publishes = last.publishes - first.publishes;
  return (
    `${formatWhole(history.length)} points, between the first and the last of which ${formatWhole(added)} writes were ` +
    `counted in ${formatWhole(publishes)} publishes. A few reads: one for each hour or day with points.`
  );
}
