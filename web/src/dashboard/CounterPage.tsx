/** One counter: what was published of it, its line, its shards on demand, and what was corrected. */
import "uplot/dist/uPlot.min.css";
import { useState } from "preact/hooks";
import { HeatStrip } from "../counter/HeatStrip.tsx";
import { NOTHING_SEEN } from "../counter/history.ts";
import { Ticker } from "../counter/Ticker.tsx";
import { NO_ANSWER, type SeenCounter, useSeen, useShards } from "../counter/watching.ts";
import type { Backend } from "../firebase/backend.ts";
import { useVisible } from "../page/conditions.ts";
import { formatAge, formatRate, formatWhole } from "../page/format.ts";
import { useNow } from "../page/useNow.ts";
import { Account } from "./Account.tsx";
import { Corrections } from "./Corrections.tsx";
import { History } from "./History.tsx";
import { SignIn } from "./SignIn.tsx";

export function CounterPage({ backend, id }: { backend: Backend; id: string }) {
  const [attempt, setAttempt] = useState(0);
  return <Counter key={attempt} backend={backend} id={id} again={() => setAttempt(attempt + 1)} />;
}

/** @param again  begins anew */
function Counter({ backend, id, again }: { backend: Backend; id: string; again: () => void }) {
  const visible = useVisible();
  const [isLooking, setIsLooking] = useState(false);
  const seen = useSeen(backend, id, visible);
  const last = seen.isNew ? undefined : seen.value?.last;
  const shards = useShards(backend, id, isLooking && visible ? last?.asOf : undefined);
  const now = useNow(1_000);

  if (seen.error) {
    return <SignIn backend={backend} why="This counter is not for everybody." error={seen.error} again={again} />;
  }
  return (
    <>
      <div class="heading">
        <p class="fine">
          <a href="#/dashboard">Counters</a>
        </p>
        <h1 class="id">{id}</h1>
        <Account backend={backend} />
      </div>
      <p class="count smaller">
        <Ticker id="total" value={last?.total} />
      </p>
      <p class="fine" role="status">
        {stateOf(seen)}
      </p>
      <dl class="figures">
        <div>
          <dt>Writes a second</dt>
          <dd id="rate">{last ? formatRate(last.rate) : "–"}</dd>
        </div>
        <div>
          <dt>Shards</dt>
          <dd id="shards">{last ? formatWhole(last.shardCount) : "–"}</dd>
        </div>
        <div>
          <dt>Writes in all</dt>
          <dd>{last ? formatWhole(last.writes) : "–"}</dd>
        </div>
        <div>
          <dt>Last publish</dt>
          <dd>{last ? `${formatAge(now - last.asOf)} ago` : "–"}</dd>
          <dd class="fine">the last of {last ? formatWhole(last.publishes) : "–"}</dd>
        </div>
      </dl>
      {last && last.malformedShards.length > 0 && (
        <p class="warning">
          Left out of the total, because their count is not a number: shards {last.malformedShards.join(", ")}.
        </p>
      )}

      <History backend={backend} id={id} seen={seen.value ?? NOTHING_SEEN} />

      <section aria-labelledby="shards-title">
        <div class="caption">
          <h2 id="shards-title">Shards</h2>
          <p>
            {isLooking
              ? `${formatWhole(shards.reads)} reads so far: every shard, once per total.`
              : `Looking costs 1 read per shard for each total published: ${formatWhole(last?.shardDocuments ?? 1)} now.`}
          </p>
          <button type="button" id="look" class={isLooking ? "on" : ""} onClick={() => setIsLooking(!isLooking)}>
            {isLooking ? "Look away" : "Look"}
          </button>
        </div>
        <HeatStrip heat={isLooking ? shards.heat : undefined} shardCount={last?.shardCount ?? 1} />
      </section>

      <Corrections backend={backend} id={id} />
    </>
  );
}

function stateOf({ value, isNew, fromCache }: SeenCounter): string {
  if (fromCache) return NO_ANSWER;
  if (isNew) return "Nothing has been published of this counter yet.";
  return value?.last ? "As it was published last." : "Connecting to Firestore…";
}
