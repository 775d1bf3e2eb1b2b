/** One counter that this browser can send traffic to: its total, its shards and its costs. */
import "uplot/dist/uPlot.min.css";
import { type CounterSnapshot, counter, incrementCounter } from "firestore-tally";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PRICES } from "../../../costs/src/index.ts";
import {
  NOT_ANSWERING,
  type PublishedCounter,
  usePublishLog,
  useShardActivity,
  useTotal,
} from "../counter/counterHooks.ts";
import { FreshnessLog } from "../counter/freshness.ts";
import { latenessOf } from "../counter/health.ts";
import { LatenessAdvice } from "../counter/LatenessAdvice.tsx";
import { LiveCharts } from "../counter/LiveCharts.tsx";
import { observedCosts } from "../counter/observedCosts.ts";
import { EMPTY_LOG, incrementsOf, type PublishLog } from "../counter/publishLog.ts";
import { rateNow } from "../counter/rate.ts";
import { ShardStrip } from "../counter/ShardStrip.tsx";
import { Ticker } from "../counter/Ticker.tsx";
import { useShard0 } from "../counter/useShard0.ts";
import type { Connection } from "../firebase/connection.ts";
import { trackWrite } from "../firebase/pendingWrites.ts";
import { isPermissionDenied, useRetryOnSignIn, useVisitor } from "../firebase/visitor.ts";
import { isVisible, useVisible } from "../page/browserState.ts";
import { formatAge, formatDollars, formatRate, formatSeconds, formatWhole, pluralize } from "../page/format.ts";
import { useNow } from "../page/useNow.ts";
import { TRAFFIC } from "../traffic/demoCounters.ts";
import { currentTraffic, onTraffic } from "../traffic/traffic.ts";
import { Board } from "./Board.tsx";
import { Like } from "./Like.tsx";
import { Tickets } from "./Tickets.tsx";
import { TrafficControl } from "./TrafficControl.tsx";
import { Views } from "./Views.tsx";

export function Demo({ connection }: { connection: Connection }) {
  const [attempt, setAttempt] = useState(0);
  return <Live key={attempt} connection={connection} retry={() => setAttempt(attempt + 1)} />;
}

/** @param retry  starts the view again */
function Live({ connection, retry }: { connection: Connection; retry: () => void }) {
  const visible = useVisible();
  const now = useNow(1_000);
  const ref = useMemo(() => counter(connection.db, TRAFFIC), [connection]);
  const freshnessLog = useRef(new FreshnessLog()).current;
  const [writeError, setWriteError] = useState<string>();
  const total = useTotal(ref, visible);
  const published = usePublishLog(connection, TRAFFIC, visible, ({ asOf }) => freshnessLog.published(asOf, Date.now()));
  const { first, last } = published.value ?? EMPTY_LOG;
  const shards = useShardActivity(connection, TRAFFIC, visible ? last?.publishedAt : undefined);
  // A hidden tab receives no totals, so increments made there say nothing about freshness.
  const acknowledged = useCallback(
    (at: readonly number[]) => isVisible() && freshnessLog.acknowledged(at),
    [freshnessLog],
  );
  useEffect(() => {
    if (!visible) freshnessLog.pause();
  }, [visible, freshnessLog]);
  const [traffic, setTraffic] = useState(currentTraffic);
  useEffect(
    () =>
      onTraffic((next, at) => {
        setTraffic(next);
        acknowledged(at);
      }),
    [acknowledged],
  );
  const add = () => {
    setWriteError(undefined);
    trackWrite(() => incrementCounter(ref)).then(
      () => acknowledged([Date.now()]),
      (error) => setWriteError(error.message),
    );
  };

  const shown = total.value?.total;
  const rate = last ? rateNow(last, now) : 0;
  const shardCount = last?.shardCount ?? 1;
  const fresh = freshnessLog.get();
  const isOperator = useVisitor(connection)?.isOperator ?? false;
  const { writes } = useShard0(connection, TRAFFIC, last, published.isCurrent && isOperator, now);
  const lateness = published.isCurrent && last ? latenessOf(last, writes, now) : undefined;
  const ownLate = describeOwnLate(freshnessLog, published);
  const costs = observedCosts(published.value ?? EMPTY_LOG, PRICES.nam5);
  const counted = incrementsOf({ first, last });
  const watched = (published.value?.seen ?? 0) + shards.reads;
  useRetryOnSignIn(connection, total.error, retry);
  const error = isPermissionDenied(total.error)
    ? "The security rules show this to operators only. Sign in at the top of the page."
    : total.error?.message;

  return (
    <>
      <section class="hero">
        <h1>Anyone may add to this number, from anywhere, at any rate.</h1>
        <p class="count">
          <Ticker id="total" value={shown} />
        </p>
        <div class="controls">
          <button type="button" id="add" class="primary" onClick={add} disabled={shown === undefined}>
            Add one
          </button>
          <TrafficControl
            connection={connection}
            traffic={traffic}
            ready={shown !== undefined}
            counted={lateness || ownLate ? undefined : rate}
          />
        </div>
        <p class={lateness || ownLate ? "warning" : "fine"} id="state" role="status">
          {error ??
            writeError ??
            (isOperator ? undefined : ownLate) ??
            (lateness ? (
              <LatenessAdvice setup={connection.setup} id={TRAFFIC} lateness={lateness} isOperator={isOperator} />
            ) : (
              describeState(total.value, published)
            ))}
        </p>
      </section>

      <section aria-labelledby="shards-title">
        <div class="caption">
          <h2 id="shards-title">Shards</h2>
          <p>
            One cell per shard, coloured by its recent writes. A busy counter gets more shards. Once it is quiet,
            surplus shards turn pale and are folded.
          </p>
          <p class="scale" aria-hidden="true">
            <span>0</span>
            <i />
            <span>5 writes per second</span>
          </p>
        </div>
        <ShardStrip activity={shards.activity} shardCount={shardCount} />
      </section>

      <section aria-labelledby="rate-title">
        <div class="caption">
          <h2 id="rate-title">Last two minutes</h2>
        </div>
        <LiveCharts
          log={published.value ?? EMPTY_LOG}
          rateTitle={
            <>
              <b id="rate">{formatRate(rate)}</b> writes per second
            </>
          }
          shardsTitle={
            <>
              <b id="shards">{formatWhole(shardCount)}</b> {shardCount === 1 ? "shard" : "shards"}
            </>
          }
        />
      </section>

      <dl class="figures">
        <div>
          <dt>Fresh after</dt>
          <dd id="fresh">{fresh ? formatSeconds(fresh.median) : "–"}</dd>
          <dd class="fine">
            from the acknowledgement of an increment to a total that includes it
            {fresh ? `; 95 of 100 within ${formatSeconds(fresh.p95)}` : ". Add some to see it"}
          </dd>
        </div>
        <div>
          <dt>Cost of counting</dt>
          <dd id="cost">{formatDollars(costs.dollars)}</dd>
          <dd class="fine">
            for {pluralize(counted, "increment")} since you opened this page: {pluralize(costs.writes, "write")},{" "}
            {pluralize(costs.reads, "read")}, {pluralize(costs.calls, "call")}. An estimate, at list prices
          </dd>
        </div>
        <div>
          <dt>Per million</dt>
          <dd>{counted >= 100 ? formatDollars((costs.dollars / counted) * 1e6) : "–"}</dd>
          <dd class="fine">
            at this traffic and the prices of nam5. The writes alone are $1.80
            {counted >= 100 && published.value && <EnterpriseCosts log={published.value} />}
            {connection.setup.firestore && ". The emulator is free"}
          </dd>
        </div>
        <div>
          <dt>Cost of watching</dt>
          <dd>{formatDollars(watched * PRICES.nam5.read)}</dd>
          <dd class="fine">
            {pluralize(watched, "read")} of this counter by this page, {formatWhole(shards.reads)} of them for the shard
            cells, which no app needs
          </dd>
        </div>
      </dl>

      <section class="small" aria-label="Two more counters">
        <Like connection={connection} visible={visible} />
        <Views connection={connection} visible={visible} />
      </section>

      <Tickets connection={connection} visible={visible} />

      <Board connection={connection} visible={visible} />
    </>
  );
}

function EnterpriseCosts({ log }: { log: PublishLog }) {
  const [module, setModule] = useState<typeof import("../counter/enterpriseCosts.ts")>();
  useEffect(() => {
    // Without a connection the sentence is left out.
    import("../counter/enterpriseCosts.ts").then(setModule, () => undefined);
  }, []);
  const dollars = module?.enterprisePerMillion(log);
  return dollars && <>. About {formatDollars(dollars)} on Firestore's Enterprise edition in us-central1</>;
}

/** Visitors are told of a late total only this long after it was due. */
const SHOWN_LATE_MS = 5_000;

/** What a visitor sees of functions that do not publish. @returns `undefined` unless increments of this page wait for a total */
function describeOwnLate({ late }: FreshnessLog, { value, isCurrent }: PublishedCounter): string | undefined {
  const { publishedAt = 0, nextPollAt = publishedAt } = value?.last ?? {};
  const age = Date.now() - (late?.since ?? Infinity);
  if (!late || !isCurrent || age < nextPollAt - publishedAt + SHOWN_LATE_MS) return undefined;
  const [are, waits] = late.count === 1 ? ["is", "it waits"] : ["are", "the oldest waits"];
  return `${pluralize(late.count, "increment")} made here ${are} stored, but not in the published total yet; ${waits} for ${formatAge(age)}.`;
}

function describeState(value: CounterSnapshot | undefined, { fromCache, isNew }: PublishedCounter): string {
  if (!value) return fromCache ? NOT_ANSWERING : "Connecting to Firestore…";
  if (value.pending) return "Shown at once; being sent to the server.";
  if (value.fromCache) return "No connection. This is the last known total.";
  if (isNew) return value.total === 0 ? "Nothing was added yet." : "Added. The first total is being computed.";
  return "The sum of everything added, exact at the instant of each total.";
}
