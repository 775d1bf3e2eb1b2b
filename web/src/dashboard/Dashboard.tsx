/** The counters of the project, live: the largest, those with the most writes, or those that a search finds. */
import type { DocumentSnapshot } from "firebase/firestore";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type CounterWindowName, WINDOW_TITLES, windowTotals } from "../../../core/src/index.ts";
import { PRICES } from "../../../costs/src/index.ts";
import { NOT_ANSWERING } from "../counter/counterHooks.ts";
import type { Published } from "../counter/published.ts";
import { type Point, rateNow } from "../counter/rate.ts";
import type { Connection } from "../firebase/connection.ts";
import { useVisible } from "../page/browserState.ts";
import { formatAge, formatDollars, formatRate, formatTotal, formatWhole } from "../page/format.ts";
import { counterAddress, type ListingQuery, ORDERS, type Order, saveQuery, windowOf } from "../page/route.ts";
import { useNow } from "../page/useNow.ts";
import { Account } from "./Account.tsx";
import { listingOf } from "./listing.ts";
import { SignIn } from "./SignIn.tsx";
import { sparklinePoints } from "./sparkline.ts";
import { PAGE_SIZE, useListing } from "./useListing.ts";

const NAMES: Record<Order, string> = {
  total: "Top",
  rate: "Trending",
  ...WINDOW_TITLES,
  id: "By id",
};

/** A rate that was published longer ago is outdated. */
const STALE_MS = 60_000;

/** The delay after the last typed letter: each query costs reads. */
const SEARCH_DELAY_MS = 300;

/** @param query  the initial query */
export function Dashboard({ connection, query }: { connection: Connection; query: ListingQuery }) {
  const visible = useVisible();
  const [text, setText] = useState(query.search);
  const [search, setSearch] = useState(query.search);
  const [order, setOrder] = useState(query.order);
  const [pages, setPages] = useState<readonly DocumentSnapshot[]>([]);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => {
      setSearch(text);
      setPages([]);
    }, SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, search]);
  useEffect(() => saveQuery({ search, order }), [search, order]);
  const listing = useMemo(() => ({ ...listingOf({ search, order }), attempt }), [search, order, attempt]);
  const listed = useListing(connection, listing, pages.at(-1), visible);
  const now = useNow(1_000);
  const { counters, end, reads, fromCache, error } = listed;
  const window = windowOf(listing.order) ?? "day";
  // Until the next page has come, `end` is still that of the page before.
  const hasNext = end !== undefined && end !== pages.at(-1);

  return (
    <>
      <div class="heading">
        <h1>Counters</h1>
        <p class="fine" id="watching">
          Watching costs 1 read per counter shown and 1 per new total. It pauses while the tab is hidden.
          <br />
          <b id="reads">{formatWhole(reads)}</b> reads so far, {formatDollars(reads * PRICES.nam5.read)} in nam5.
        </p>
        <Account connection={connection} />
      </div>
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
                onChange={() => {
                  setOrder(one);
                  setPages([]);
                }}
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
        <SignIn
          connection={connection}
          title="These counters are for operators only"
          error={error}
          retry={() => setAttempt(attempt + 1)}
        />
      ) : (
        <>
          <table class="counters" aria-busy={counters === undefined}>
            <caption class="unseen">Counters, {NAMES[listing.order]}</caption>
            <thead>
              <tr>
                <th scope="col">Counter</th>
                <th scope="col" class="number">
                  Total
                </th>
                <th scope="col" class="number">
                  {NAMES[window]}
                </th>
                <th scope="col" class="number">
                  Writes per second
                </th>
                <th scope="col" class="number">
                  Shards
                </th>
                <th scope="col" class="number">
                  Changed
                </th>
                <th scope="col" class="line">
                  Rate, 1 minute
                </th>
              </tr>
            </thead>
            <tbody>
              {counters?.map((counter, place) => (
                <Row
                  // biome-ignore lint/suspicious/noArrayIndexKey: when the order changes, rows change their text and do not move.
                  key={place}
                  counter={counter}
                  window={window}
                  now={now}
                  rates={listed.recentRates.get(counter.id) ?? []}
                />
              ))}
              {!counters && [1, 2, 3, 4, 5, 6].map((row) => <Placeholder key={row} />)}
            </tbody>
          </table>
          {counters?.length === 0 && <NoCounters search={search} order={listing.order} />}
          {/* Hidden while the table still grows. */}
          <div class="pages" hidden={!fromCache && !end && pages.length === 0}>
            <p class="fine" role="status">
              {fromCache ? NOT_ANSWERING : counters && positionsOf(pages.length * PAGE_SIZE, counters.length)}
            </p>
            {/* Not `disabled`, which takes the focus of keyboard users away. */}
            <button type="button" aria-disabled={pages.length === 0} onClick={() => setPages(pages.slice(0, -1))}>
              Back
            </button>
            <button type="button" aria-disabled={!hasNext} onClick={() => hasNext && setPages([...pages, end])}>
              Next
            </button>
          </div>
        </>
      )}
    </>
  );
}

interface RowProps {
  readonly counter: Published;
  readonly window: CounterWindowName;
  readonly now: number;
  readonly rates: readonly Point[];
}

function Row({ counter, window, now, rates }: RowProps) {
  const { id, total, shardCount, asOf, malformedShards, windows } = counter;
  const line = sparklinePoints(rates, now);
  return (
    <tr data-id={id}>
      <th scope="row">
        <a href={counterAddress(id)}>
          <bdi>{id}</bdi>
        </a>
        {malformedShards.length > 0 && <em> {malformedShards.length} left out</em>}
      </th>
      <td class="number total" data-total={total}>
        {formatTotal(total)}
      </td>
      <td class="number" data-label={NAMES[window].toLowerCase()}>
        {formatTotal(windowTotals(windows, now)[window])}
      </td>
      <td class={`number ${now - asOf > STALE_MS ? "stale" : ""}`} data-label="writes/s">
        {formatRate(rateNow(counter, now))}
      </td>
      <td class="number" data-label={shardCount === 1 ? "shard" : "shards"}>
        {formatWhole(shardCount)}
      </td>
      <td class="number">{formatAge(now - asOf)} ago</td>
      <td class="line">
        <svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
          {line && <polyline points={line} />}
        </svg>
      </td>
    </tr>
  );
}

function positionsOf(before: number, shown: number): string {
  return shown > 0 ? `${formatWhole(before + 1)} to ${formatWhole(before + shown)}` : "";
}

function Placeholder() {
  return (
    <tr class="placeholder">
      <td>
        <i />
      </td>
      {[0, 1, 2, 3, 4].map((cell) => (
        <td key={cell} class="number">
          <i />
        </td>
      ))}
      <td class="line" />
    </tr>
  );
}

function NoCounters({ search, order }: ListingQuery) {
  return (
    <section class="state">
      <h2>{search ? `No counter for “${search}”` : "No counters yet"}</h2>
      <p>
        {windowOf(order)
          ? "None of this group has counted in this time."
          : search
            ? "Search for the start of an id, or for a group with its colon."
            : "A counter is created by its first increment. "}
        {!search && <a href="#/">Create one</a>}
      </p>
    </section>
  );
}
