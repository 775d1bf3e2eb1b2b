/** The counters of the project, live: the largest, those with the most writes, or those that a search finds. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { WINDOW_TITLES } from "../../../core/src/index.ts";
import { PRICES } from "../../../costs/src/index.ts";
import { NOT_ANSWERING } from "../counter/counterHooks.ts";
import type { Published } from "../counter/published.ts";
import type { Connection } from "../firebase/connection.ts";
import { useVisitor } from "../firebase/visitor.ts";
import { useVisible } from "../page/browserState.ts";
import { formatDollars, formatWhole, pluralize } from "../page/format.ts";
import { dashboardAddress, type ListingQuery, ORDERS, type Order, windowOf } from "../page/route.ts";
import { useNow } from "../page/useNow.ts";
import { CounterTable } from "./CounterTable.tsx";
import { listingOf } from "./listing.ts";
import { OnCall } from "./OnCall.tsx";
import { summaryOf } from "./onCallSummary.ts";
import { ReadError } from "./ReadError.tsx";
import { useListing } from "./useListing.ts";
import { useOnCall } from "./useOnCall.ts";

const NAMES: Record<Order, string> = {
  total: "Top",
  rate: "Trending",
  ...WINDOW_TITLES,
  id: "By id",
};

/** The delay after the last typed letter: each query costs reads. */
const SEARCH_DELAY_MS = 300;

/** @param query  of the address, which a change of the list replaces */
export function Dashboard({ connection, query }: { connection: Connection; query: ListingQuery }) {
  const { search, order, after } = query;
  const visible = useVisible();
  const [text, setText] = useState(search);
  const [attempt, setAttempt] = useState(0);
  const [onCallReads, setOnCallReads] = useState(0);
  // What is typed while the address changes is not replaced by what was typed before.
  const sent = useRef(search);
  useEffect(() => {
    if (search !== sent.current) setText(search);
    sent.current = search;
  }, [search]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      location.replace(dashboardAddress({ search: text, order, after: "" }));
    }, SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, order]);
  const listing = useMemo(() => ({ ...listingOf({ search, order }), attempt }), [search, order, attempt]);
  const { counters, end, reads, fromCache, isCurrent, hasNoStart, error, recentRates } = useListing(
    connection,
    listing,
    after,
    visible,
  );
  const isOperator = useVisitor(connection)?.isOperator ?? false;
  const onCall = useOnCall(connection, isOperator && visible, counters, (reads) =>
    setOnCallReads((before) => before + reads),
  );
  const now = useNow(1_000);
  const summary = summaryOf(isOperator ? onCall.reading : undefined, counters ?? [], isCurrent ? now : undefined);
  const window = windowOf(listing.order) ?? "day";
  // Until the next page has come, `end` is still that of the page before.
  const next = end === after ? undefined : end;
  const allReads = reads + onCallReads;

  return (
    <>
      <div class="heading">
        <h1>Counters</h1>
        <p class="fine" id="watching">
          Watching costs 1 read per counter shown and 1 per new total. It pauses while the tab is hidden.
          <br />
          <b id="reads">{formatWhole(allReads)}</b> reads so far, {formatDollars(allReads * PRICES.nam5.read)} in nam5.
        </p>
      </div>
      {isOperator && <OnCall connection={connection} {...onCall} {...summary} now={now} />}
      <search class="filter">
        <label>
          <span>Find</span>
          <input
            type="search"
            id="search"
            placeholder="likes: or likes:po"
            value={text}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            aria-describedby="search-hint"
          />
        </label>
        <fieldset class="choice">
          <legend class="unseen">Order</legend>
          {ORDERS.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="order"
                value={one}
                checked={listing.order === one}
                disabled={listing.prefix === undefined ? !listing.group && !!windowOf(one) : one !== "id"}
                onChange={() => location.replace(dashboardAddress({ search, order: one, after: "" }))}
              />
              <span>{NAMES[one]}</span>
            </label>
          ))}
        </fieldset>
        <p class="fine" id="search-hint">
          A group with its colon, such as likes:, or the start of an id. Only groups have an order of today.
        </p>
      </search>
      {error ? (
        <ReadError
          connection={connection}
          title="These counters are for operators only"
          error={error}
          retry={() => setAttempt(attempt + 1)}
        />
      ) : (
        <>
          <CounterTable
            counters={counters}
            recentRates={recentRates}
            caption={`Counters, ${NAMES[listing.order]}`}
            window={window}
            windowName={NAMES[window]}
            late={summary.late}
            now={now}
          />
          {counters?.length === 0 && <NoCounters query={{ ...query, order: listing.order }} hasNoStart={hasNoStart} />}
          {/* Hidden while the table still grows. */}
          <div class="pages" hidden={!fromCache && !end && !after && !(windowOf(listing.order) && counters?.length)}>
            <p class="fine" role="status">
              {fromCache
                ? NOT_ANSWERING
                : counters && describePage(counters, { ...query, order: listing.order }, !!end)}
            </p>
            {/* Not `disabled`, which takes the focus of keyboard users away. */}
            <button type="button" aria-disabled={!after} onClick={() => after && visit({ search, order, after: "" })}>
              First page
            </button>
            <button type="button" aria-disabled={!next} onClick={() => next && visit({ search, order, after: next })}>
              Next
            </button>
          </div>
        </>
      )}
    </>
  );
}

/** Adds an entry to the browser's history, so that going back leads to the page before. */
function visit(query: ListingQuery): void {
  location.hash = dashboardAddress(query);
}

/** Totals change, so a page knows its beginning and not its place. */
function describePage(counters: readonly Published[], { order, after }: ListingQuery, hasNext: boolean): string {
  const number = pluralize(counters.length, "counter");
  const counted = windowOf(order) ? `${number} counted in this time` : number;
  if (after) return `${counted}, after ${after}`;
  return hasNext ? `The first ${counted}` : counted;
}

function NoCounters({ query: { search, order, after }, hasNoStart }: { query: ListingQuery; hasNoStart: boolean }) {
  if (after) {
    return (
      <section class="state">
        <h2>{hasNoStart ? "This page cannot be found" : "No further counters"}</h2>
        <p>
          {hasNoStart
            ? `It begins after ${after}, which does not exist, or has no place in this order.`
            : `None comes after ${after} now.`}
        </p>
      </section>
    );
  }
  return (
    <section class="state">
      <h2>{search ? `No counter for “${search}”` : "No counters yet"}</h2>
      <p>
        {windowOf(order)
          ? "None of this group has counted in this time, or WINDOWS does not name the group."
          : search
            ? "Search for the start of an id, or for a group with its colon."
            : "A counter is created by its first increment. "}
        {!search && <a href="#/">Create one</a>}
      </p>
    </section>
  );
}
