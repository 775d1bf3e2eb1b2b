/** The counters of the project, live: the largest, those that are written to most, or those one looks for. */
import type { DocumentSnapshot } from "firebase/firestore";
import { useEffect, useMemo, useState } from "preact/hooks";
import { PRICES } from "../../../costs/src/index.ts";
import type { Published } from "../counter/published.ts";
import { NO_ANSWER } from "../counter/watching.ts";
import type { Backend } from "../firebase/backend.ts";
import { useVisible } from "../page/conditions.ts";
import { formatAge, formatDollars, formatRate, formatTotal, formatWhole } from "../page/format.ts";
import { counterAddress, keep, ORDERS, type Order, type Question } from "../page/route.ts";
import { useNow } from "../page/useNow.ts";
import { Account } from "./Account.tsx";
import { listingOf } from "./listing.ts";
import { SignIn } from "./SignIn.tsx";
import { lineOf, type Spark } from "./sparks.ts";
import { PAGE_SIZE, useListing } from "./useListing.ts";

const NAMES: Record<Order, string> = { total: "Top", rate: "Trending", id: "By id" };

/** What the rate of a counter was when it was published last, it is hardly any more. */
const STALE_MS = 60_000;

/** A query for every letter that is typed would be read and paid for. */
const TYPING_MS = 300;

/** @param asked  what to begin with */
export function Dashboard({ backend, asked }: { backend: Backend; asked: Question }) {
  const visible = useVisible();
  const [text, setText] = useState(asked.search);
  const [search, setSearch] = useState(asked.search);
  const [order, setOrder] = useState(asked.order);
  const [pages, setPages] = useState<readonly DocumentSnapshot[]>([]);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => {
      setSearch(text);
      setPages([]);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, search]);
  useEffect(() => keep({ search, order }), [search, order]);
  const listing = useMemo(() => ({ ...listingOf({ search, order }), attempt }), [search, order, attempt]);
  const listed = useListing(backend, listing, pages.at(-1), visible);
  const now = useNow(1_000);
  const { counters, end, reads, fromCache, error } = listed;

  return (
    <>
      <div class="heading">
        <h1>Counters</h1>
        <p class="fine" id="watching">
          Watching costs 1 read for each counter shown and each total published, and rests while nobody looks.
          <br />
          <b id="reads">{formatWhole(reads)}</b> reads so far, {formatDollars(reads * PRICES.nam5.read)}.
        </p>
        <Account backend={backend} />
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
                disabled={listing.prefix !== undefined && one !== "id"}
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
          A group, as likes: with its colon, or how ids begin.
        </p>
      </search>
      {error ? (
        <SignIn
          backend={backend}
          why="These counters are not for everybody."
          error={error}
          again={() => setAttempt(attempt + 1)}
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
                  Writes a second
                </th>
                <th scope="col" class="number">
                  Shards
                </th>
                <th scope="col" class="number">
                  Published
                </th>
                <th scope="col" class="line">
                  Rate, 1 minute
                </th>
              </tr>
            </thead>
            <tbody>
              {counters?.map((counter, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: when the order changes, the words do, and no row moves.
                <Row key={place} counter={counter} now={now} sparks={listed.sparks.get(counter.id) ?? []} />
              ))}
              {!counters && [1, 2, 3, 4, 5, 6].map((row) => <Placeholder key={row} />)}
            </tbody>
          </table>
          {counters?.length === 0 && <Nothing search={search} />}
          {/* Only below a table that grows no more. */}
          <div class="pages" hidden={!fromCache && !end && pages.length === 0}>
            <p class="fine" role="status">
              {fromCache ? NO_ANSWER : counters && spanOf(pages.length * PAGE_SIZE, counters.length)}
            </p>
            <button type="button" disabled={pages.length === 0} onClick={() => setPages(pages.slice(0, -1))}>
              Back
            </button>
            <button
              type="button"
              disabled={!end || end === pages.at(-1)}
              onClick={() => end && setPages([...pages, end])}
            >
              Next
            </button>
          </div>
        </>
      )}
    </>
  );
}

function Row({ counter, now, sparks }: { counter: Published; now: number; sparks: readonly Spark[] }) {
  const { id, total, rate, shardCount, asOf, malformedShards } = counter;
  const line = lineOf(sparks, now);
  return (
    <tr data-id={id}>
      <th scope="row">
        <a href={counterAddress(id)}>{id}</a>
        {malformedShards.length > 0 && <em> {malformedShards.length} left out</em>}
      </th>
      <td class="number total" data-total={total}>
        {formatTotal(total)}
      </td>
      <td class={`number ${now - asOf > STALE_MS ? "stale" : ""}`} data-label="writes/s">
        {formatRate(rate)}
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

function spanOf(before: number, shown: number): string {
  return shown > 0 ? `${formatWhole(before + 1)} to ${formatWhole(before + shown)}` : "";
}

function Placeholder() {
  return (
    <tr class="placeholder">
      <td>
        <i />
      </td>
      {[0, 1, 2, 3].map((cell) => (
        <td key={cell} class="number">
          <i />
        </td>
      ))}
      <td class="line" />
    </tr>
  );
}

function Nothing({ search }: { search: string }) {
  return (
    <section class="state">
      <h2>{search ? `No counter for “${search}”` : "No counters yet"}</h2>
      <p>
        {search
          ? "Ids are found by how they begin. A group ends with a colon."
          : "A counter comes into being with its first increment. "}
        {!search && <a href="#/">Make one</a>}
      </p>
    </section>
  );
}
