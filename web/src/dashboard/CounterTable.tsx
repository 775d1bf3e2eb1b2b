/** The counters of the list, a row each. */
import { type CounterWindowName, windowTotals } from "../../../core/src/index.ts";
import { describeLateness, type Lateness } from "../counter/health.ts";
import type { Published } from "../counter/published.ts";
import { type Point, rateNow } from "../counter/rate.ts";
import { formatAge, formatRate, formatTotal, formatWhole } from "../page/format.ts";
import { counterAddress } from "../page/route.ts";
import { type RecentRates, sparklinePoints } from "./sparkline.ts";

/** A rate that was published longer ago is outdated. */
const STALE_MS = 60_000;

interface CounterTableProps {
  /** `undefined` until they arrive. */
  readonly counters: readonly Published[] | undefined;
  readonly recentRates: RecentRates;
  readonly caption: string;
  /** The window whose counts are shown, and its name. */
  readonly window: CounterWindowName;
  readonly windowName: string;
  readonly late: ReadonlyMap<string, Lateness>;
  readonly now: number;
}

export function CounterTable({ counters, recentRates, caption, window, windowName, late, now }: CounterTableProps) {
  return (
    <table class="counters" aria-busy={counters === undefined}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Counter</th>
          <th scope="col" class="number">
            Total
          </th>
          <th scope="col" class="number">
            {windowName}
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
            windowName={windowName}
            lateness={late.get(counter.id)}
            now={now}
            rates={recentRates.get(counter.id) ?? []}
          />
        ))}
        {!counters && [1, 2, 3, 4, 5, 6].map((row) => <Placeholder key={row} />)}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly counter: Published;
  readonly window: CounterWindowName;
  readonly windowName: string;
  readonly lateness: Lateness | undefined;
  readonly now: number;
  readonly rates: readonly Point[];
}

function Row({ counter, window, windowName, lateness, now, rates }: RowProps) {
  const { id, total, shardCount, asOf, malformedShards, windows } = counter;
  const line = sparklinePoints(rates, now);
  return (
    <tr data-id={id}>
      <th scope="row">
        <a href={counterAddress(id)} title={id}>
          <bdi>{id}</bdi>
        </a>
        {malformedShards.length > 0 && <em> {malformedShards.length} left out</em>}
        {lateness && <em> {describeLateness(lateness)}</em>}
      </th>
      <td class="number total" data-total={total}>
        {formatTotal(total)}
      </td>
      <td class="number" data-label={windowName.toLowerCase()}>
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
