/** One counter that takes whatever this browser sends, and what becomes of it: the total, the shards, the costs. */
import "uplot/dist/uPlot.min.css";
import { type CounterSnapshot, counter, incrementCounter } from "firestore-tally";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PRICES } from "../../../costs/src/index.ts";
import { billOf } from "../counter/bill.ts";
import { FreshnessLog } from "../counter/freshness.ts";
import { HeatStrip } from "../counter/HeatStrip.tsx";
import { NOTHING_SEEN, WINDOW_MS } from "../counter/history.ts";
import { RateChart } from "../counter/RateChart.tsx";
import { Ticker } from "../counter/Ticker.tsx";
import { NO_ANSWER, useSeen, useShards, useTotal } from "../counter/watching.ts";
import type { Backend } from "../firebase/backend.ts";
import { isRefusal, useAgain } from "../firebase/currentSession.ts";
import { write } from "../firebase/switching.ts";
import { isVisible, useVisible } from "../page/conditions.ts";
import { formatDollars, formatRate, formatSeconds, formatWhole } from "../page/format.ts";
import { TRAFFIC } from "../traffic/counters.ts";
import { onTraffic, trafficNow } from "../traffic/traffic.ts";
import { Like } from "./Like.tsx";
import { TrafficControl } from "./TrafficControl.tsx";
import { Views } from "./Views.tsx";

export function Demo({ backend }: { backend: Backend }) {
  const [attempt, setAttempt] = useState(0);
  return <Live key={attempt} backend={backend} again={() => setAttempt(attempt + 1)} />;
}

/** @param again  begins anew */
function Live({ backend, again }: { backend: Backend; again: () => void }) {
  const visible = useVisible();
  const ref = useMemo(() => counter(backend.db, TRAFFIC), [backend]);
  const log = useRef(new FreshnessLog()).current;
  const [refused, setRefused] = useState<string>();
  const total = useTotal(ref, visible);
  const seen = useSeen(backend, TRAFFIC, visible, ({ asOf }) => log.published(asOf, Date.now()));
  const { first, last, recent } = seen.value ?? NOTHING_SEEN;
  const shards = useShards(backend, TRAFFIC, visible ? last?.asOf : undefined);
  // Nobody waits for a total in a tab that nobody sees.
  const acknowledged = useCallback((at: readonly number[]) => isVisible() && log.acknowledged(at), [log]);
  useEffect(() => {
    if (!visible) log.rest();
  }, [visible, log]);
  const [traffic, setTraffic] = useState(trafficNow);
  useEffect(
    () =>
      onTraffic((next, at) => {
        setTraffic(next);
        acknowledged(at);
      }),
    [acknowledged],
  );
  const add = () => {
    setRefused(undefined);
    write(() => incrementCounter(ref)).then(
      () => acknowledged([Date.now()]),
      (error) => setRefused(error.message),
    );
  };

  // A cache that knows of no total says nothing of how many there are.
  const { value } = total;
  const known = value && (value.asOf || !value.fromCache) ? value.total : undefined;
  const rate = last?.rate ?? 0;
  const shardCount = last?.shardCount ?? 1;
  const fresh = log.get();
  const bill = billOf(seen.value ?? NOTHING_SEEN, PRICES.nam5);
  const counted = first && last ? last.writes - first.writes : 0;
  const peak = Math.max(0, ...recent.map((one) => one.rate));
  const watched = (seen.value?.seen ?? 0) + shards.reads;
  useAgain(backend, total.error, again);
  const error = isRefusal(total.error)
    ? "The security rules show this to operators, who sign in on the dashboard."
    : total.error?.message;

  return (
    <>
      <section class="hero">
        <h1>Anyone may add to this number, from anywhere, at any rate.</h1>
        <p class="count">
          <Ticker id="total" value={known} />
        </p>
        <div class="controls">
          <button type="button" id="add" class="primary" onClick={add} disabled={known === undefined}>
            Add one
          </button>
          <TrafficControl backend={backend} traffic={traffic} ready={known !== undefined} />
        </div>
        <p class="fine" id="state" role="status">
          {error ?? refused ?? stateOf(value, known, seen.isNew)}
        </p>
      </section>

      <section aria-labelledby="shards-title">
        <div class="caption">
          <h2 id="shards-title">Shards</h2>
          <p>
            One cell each: the warmer, the more was written to it lately. A hot counter splits into more of them. When
            it is quiet again, those no longer needed turn pale, and are folded.
          </p>
          <p class="scale" aria-hidden="true">
            <span>0</span>
            <i />
            <span>5 writes a second</span>
          </p>
        </div>
        <HeatStrip heat={shards.heat} shardCount={shardCount} />
      </section>

      <section aria-labelledby="rate-title">
        <div class="caption">
          <h2 id="rate-title">Two minutes</h2>
          <p class="legend">
            <span class="rate">
              <b id="rate">{formatRate(rate)}</b> writes per second
            </span>
            <span class="shards">
              <b id="shards">{formatWhole(shardCount)}</b> {shardCount === 1 ? "shard" : "shards"}
            </span>
          </p>
        </div>
        <RateChart
          points={recent.map((one) => ({ at: one.asOf, rate: one.rate, shardCount: one.shardCount }))}
          spanMs={WINDOW_MS}
          live
          label={`Writes per second over two minutes: ${formatRate(rate)} now, ${formatRate(peak)} at most; ${formatWhole(shardCount)} shards now.`}
        />
      </section>

      <dl class="figures">
        <div>
          <dt>Fresh after</dt>
          <dd id="fresh">{fresh ? formatSeconds(fresh.median) : "–"}</dd>
          <dd class="fine">
            from the acknowledgement of an increment to a total with it
            {fresh ? `; 95 of 100 within ${formatSeconds(fresh.p95)}` : ". Add some to see"}
          </dd>
        </div>
        <div>
          <dt>Cost of counting</dt>
          <dd id="cost">{formatDollars(bill.dollars)}</dd>
          <dd class="fine">
            for {formatWhole(counted)} increments since you came: {formatWhole(bill.writes)} writes,{" "}
            {formatWhole(bill.reads)} reads, {formatWhole(bill.calls)} calls. An estimate, at list prices
          </dd>
        </div>
        <div>
          <dt>Per million</dt>
          <dd>{counted >= 100 ? formatDollars((bill.dollars / counted) * 1e6) : "–"}</dd>
          <dd class="fine">
            at this traffic, in nam5. The bare writes are $1.80{backend.setup.firestore && ". The emulator is free"}
          </dd>
        </div>
        <div>
          <dt>Cost of watching</dt>
          <dd>{formatDollars(watched * PRICES.nam5.read)}</dd>
          <dd class="fine">
            {formatWhole(watched)} reads of this counter by this page, all but {formatWhole(watched - shards.reads)} for
            the picture of the shards, which no app needs
          </dd>
        </div>
      </dl>

      <section class="small" aria-label="Two more counters">
        <Like backend={backend} visible={visible} />
        <Views backend={backend} visible={visible} />
      </section>
    </>
  );
}

function stateOf(value: CounterSnapshot | undefined, known: number | undefined, isNew: boolean): string {
  if (!value) return "Connecting to Firestore…";
  if (known === undefined) return NO_ANSWER;
  if (value.pending) return "Shown at once; on its way to the server.";
  if (value.fromCache) return "No connection. This is the last total that was seen here.";
  if (isNew) return known === 0 ? "Nobody has added anything yet." : "Added. The first total is on its way.";
  return "The sum of everything added, exact at the instant of each total.";
}
