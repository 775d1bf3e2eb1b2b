/** One counter: its published state, its chart, its shards on demand, its top items, and its corrections. */
import "uplot/dist/uPlot.min.css";
import { useState } from "preact/hooks";
import { WINDOW_NAMES, WINDOW_TITLES, windowTotals } from "../../../core/src/index.ts";
import { NOT_ANSWERING, type PublishedCounter, usePublishLog, useShardActivity } from "../counter/counterHooks.ts";
import { latenessOf, NEVER_PUBLISHED } from "../counter/health.ts";
import { LatenessAdvice } from "../counter/LatenessAdvice.tsx";
import { EMPTY_LOG } from "../counter/publishLog.ts";
import { rateNow } from "../counter/rate.ts";
import { ShardStrip } from "../counter/ShardStrip.tsx";
import { Ticker } from "../counter/Ticker.tsx";
import { useShard0 } from "../counter/useShard0.ts";
import type { Connection } from "../firebase/connection.ts";
import { useVisitor } from "../firebase/visitor.ts";
import { useVisible } from "../page/browserState.ts";
import { formatAge, formatRate, formatTotal, formatWhole } from "../page/format.ts";
import type { Range } from "../page/route.ts";
import { useNow } from "../page/useNow.ts";
import { Corrections } from "./Corrections.tsx";
import { History } from "./History.tsx";
import { ReadError } from "./ReadError.tsx";
import { Regions } from "./Regions.tsx";
import { TopItems } from "./TopItems.tsx";

interface CounterPageProps {
  readonly connection: Connection;
  /** The route of the address. */
  readonly query: { readonly id: string; readonly range: Range };
}

export function CounterPage({ connection, query }: CounterPageProps) {
  const [attempt, setAttempt] = useState(0);
  return <Counter key={attempt} connection={connection} query={query} retry={() => setAttempt(attempt + 1)} />;
}

/** @param retry  starts the view again */
function Counter({ connection, query: { id, range }, retry }: CounterPageProps & { retry: () => void }) {
  const visible = useVisible();
  const [showsShards, setShowsShards] = useState(false);
  const counter = usePublishLog(connection, id, visible);
  const last = counter.isNew ? undefined : counter.value?.last;
  const shards = useShardActivity(connection, id, showsShards && visible ? last?.publishedAt : undefined);
  const now = useNow(1_000);
  const shard0 = useShard0(connection, id, last, counter.isCurrent, now);
  const isOperator = useVisitor(connection)?.isOperator ?? false;
  const lateness = counter.isCurrent ? latenessOf(last ?? NEVER_PUBLISHED, shard0.writes, now) : undefined;
  const { regions } = counter;
  const windows = (regions ?? last) && windowTotals((regions ?? last)?.windows, now);

  if (counter.error) {
    return (
      <>
        <h1 class="unseen">{id}</h1>
        <ReadError
          connection={connection}
          title="This counter is for operators only"
          error={counter.error}
          retry={retry}
        />
      </>
    );
  }
  const timeZone = (regions ?? last)?.windows?.timeZone;
  const heading = (
    <div class="heading">
      <p class="fine">
        <a href="#/dashboard">Counters</a>
      </p>
      <h1 class="id" title={id}>
        {id}
      </h1>
    </div>
  );
  if (counter.isMissing && shard0.exists === false) {
    return (
      <>
        {heading}
        <section class="state">
          <h2>No such counter</h2>
          <p>Nothing was counted under this id. The page shows the counter as soon as something is.</p>
        </section>
      </>
    );
  }
  return (
    <>
      {heading}
      <p class="count smaller">
        <Ticker id="total" value={regions?.total ?? last?.total} />
      </p>
      <p class={lateness ? "warning" : "fine"} id="state" role="status">
        {lateness ? (
          <LatenessAdvice setup={connection.setup} id={id} lateness={lateness} isOperator={isOperator} />
        ) : (
          describeState(counter)
        )}
      </p>
      <dl class="figures">
        <div>
          <dt>Writes per second</dt>
          <dd id="rate">{last ? formatRate(rateNow(last, now)) : "–"}</dd>
        </div>
        <div>
          <dt>Shards</dt>
          <dd id="shards">{last ? formatWhole(last.shardCount) : "–"}</dd>
        </div>
        <div>
          <dt>Today</dt>
          <dd id="today" style={{ "--characters": windows ? formatTotal(windows.day).length : 1 }}>
            {windows ? formatTotal(windows.day) : "–"}
          </dd>
          <dd class="fine">
            {windows
              ? [
                  ...LONGER.map((name) => `${formatTotal(windows[name])} ${WINDOW_TITLES[name].toLowerCase()}`),
                  ...(timeZone ? [`in ${timeZone}`] : []),
                ].join(", ")
              : ""}
          </dd>
        </div>
        <div>
          <dt>Last change</dt>
          <dd>{last ? `${formatAge(now - last.asOf)} ago` : "–"}</dd>
          <dd class="fine">
            {last ? formatWhole(last.publishes) : "–"} {last?.publishes === 1 ? "publish" : "publishes"} of{" "}
            {last ? formatWhole(last.writes) : "–"} {last?.writes === 1 ? "write" : "writes"},{" "}
            {last ? formatWhole(last.directWrites) : "–"} direct
          </dd>
        </div>
      </dl>
      {last && last.malformedShards.length > 0 && (
        <p class="warning">
          Not in the total, because their count is not a number: shards {last.malformedShards.join(", ")}.
        </p>
      )}

      {last?.slowSince !== undefined && (
        <p class="warning">
          The sum of its shards took longer than five seconds {formatAge(now - last.slowSince)} ago. Until it is tried
          again they are listed, for 1 read each, and the total may be ten seconds late.
        </p>
      )}

      <History connection={connection} id={id} range={range} log={counter.value ?? EMPTY_LOG} />

      <section aria-labelledby="shards-title">
        <div class="caption">
          <h2 id="shards-title">Shards</h2>
          <p>
            {showsShards
              ? `${formatWhole(shards.reads)} reads so far: every shard, for each total.`
              : `Listing them costs 1 read per shard for each published total: ${formatWhole(last?.shardDocuments ?? 1)} now.`}
          </p>
          <button
            type="button"
            id="show-shards"
            class={showsShards ? "on" : ""}
            onClick={() => setShowsShards(!showsShards)}
          >
            {showsShards ? "Hide" : "Show"}
          </button>
        </div>
        <ShardStrip activity={showsShards ? shards.activity : undefined} shardCount={last?.shardCount ?? 1} />
      </section>

      <Regions last={last} regions={regions} now={now} />

      <TopItems connection={connection} id={id} visible={visible} />

      <Corrections connection={connection} id={id} />
    </>
  );
}

function describeState({ value, regions, isNew, fromCache }: PublishedCounter): string {
  if (fromCache) return NOT_ANSWERING;
  if (isNew) return regions ? "Nothing was counted in this region yet." : "This counter has no total yet.";
  if (!value?.last) return "Connecting to Firestore…";
  return value.last.isOpen ? "One document: each increment is in the total at once." : "The latest total.";
}

const LONGER = WINDOW_NAMES.slice(1);
