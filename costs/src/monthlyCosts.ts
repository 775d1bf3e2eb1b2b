/**
 * What traffic costs in a month, item by item.
 *
 * What each publish takes follows from how the functions work (docs/architecture.md):
 *
 *     busy      polled: each interval takes 1 task, 1 measurement and 1 publish. The task reads the counter document, and
 *               so does a wake that comes after the poll was due. Only writes to shard 0 wake a function
 *     idle      a publish waits for the interval, then for the first write after it. An earlier write wakes a function,
 *               which reads the counter document and schedules a task
 *     after it  some 13 polls: each longest interval for a minute, while the shard count is above 1; then once in each of the
 *               phases shrunk and cooling. The last one folds
 *     regions   each has its part of the traffic. An exchange follows a publish, once in its interval: 1 task and 1 read,
 *               and for each other region 1 read and 1 write
 *     history   a write for each hour with a publish, and for each minute with a publish of a busy counter; one document
 *               for each day of hours and each hour of minutes, deleted when it expires
 */
import { partOfShard0, WRITES_PER_MARK_LOOK } from "../../core/src/index.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../functions/src/decisions.ts";
import type { Prices } from "./prices.ts";
import { historyPerSecond, isPolled, measuringReads, publishingPerSecond } from "./publishing.ts";
import { DAYS, type DayPart, dayPartsOf, shareOf, type Traffic } from "./traffic.ts";

export type CostItemId =
  | "increments"
  | "receipts"
  | "expiredReceipts"
  | "entries"
  | "lookups"
  | "shardCount"
  | "markLooks"
  | "measurements"
  | "publishes"
  | "history"
  | "expiredHistory"
  | "exchangeReads"
  | "exchangeWrites"
  | "watchers"
  | "readers"
  | "lastPolls"
  | "foldListing"
  | "foldDeletes"
  | "foldBase"
  | "sweeps"
  | "invocations"
  | "tasks";

export interface CostItem {
  readonly id: CostItemId;
  /** As the command line prints it. */
  readonly name: string;
  /** What is billed. */
  readonly unit: keyof Prices;
  /** How many in a month. */
  readonly perMonth: number;
  readonly dollars: number;
}

export interface MonthlyCosts {
  readonly items: readonly CostItem[];
  readonly dollars: number;
  readonly increments: number;
  readonly dayParts: readonly DayPart[];
}

/** One every five minutes. */
const SWEEPS = DAYS * 24 * 12;

/** Reads of a sweep that finds nothing: one for each of two empty queries. */
const EMPTY_SWEEP_READS = 2;

/** Documents that the rules look up for an increment with `once`, whatever their result: its shard and its entry. */
const LOOKUPS = 2;

/** Polls of a counter after its peak, from busy to cooling (functions/src/counter/phase.ts). */
const LAST_POLLS = 13;

/** Commits of an instance of ingest for each read of a shard count. */
const WRITES_PER_READ = 20;

/** Shards per batch of a fold. */
const FOLD_BATCH = 200;

export function monthlyCosts(all: Traffic, prices: Prices, config: Settings = DEFAULT_SETTINGS): MonthlyCosts {
  const { regions = 1 } = all;
  const traffic = regions > 1 ? shareOf(all, regions) : all;
  const { counters, once, watchers, readsPerDay, batch } = traffic;
  // An instance of ingest reads the shard count as a client does that writes the counter all the time.
  const perClient = batch === undefined ? traffic.perClient : WRITES_PER_READ;
  const dayParts = dayPartsOf(traffic, config);
  const shardsAtPeak = dayParts[0]?.shards ?? 0;
  const folded = Math.max(0, shardsAtPeak - (dayParts.at(-1)?.shards ?? 0));
  const monthly = (perSecond: (part: DayPart) => number) =>
    regions * counters * dayParts.reduce((sum, part) => sum + perSecond(part) * part.hours * 3_600 * DAYS, 0);
  const counterDays = regions * counters * DAYS;
  const sweeps = regions * SWEEPS;

  const publishing = (part: DayPart) => publishingPerSecond(part, config, folded > 0 ? 1 : 0);
  const history = (part: DayPart) => historyPerSecond(part, publishing(part).publishes, config);
  const increments = monthly(({ rate }) => rate);
  const writes = monthly((part) => part.writes);
  const requests = batch === undefined ? 0 : increments / batch;
  const tasks = monthly((part) => publishing(part).tasks);
  const lastPolls = folded > 0 ? counterDays * LAST_POLLS : 0;
  const publishes = monthly((part) => publishing(part).publishes) + lastPolls;
  const folds = counterDays * Math.ceil(folded / FOLD_BATCH);
  const swept = counters * dayParts.reduce((sum, part) => sum + (isPolled(part) ? part.hours / 24 : 0), 0);
  // Writes to shard 0, and writes that create a shard again that was folded the night before.
  const wakes = monthly((part) => part.writes * partOfShard0(part.shards)) + counterDays * folded;

  const exchanges =
    regions > 1 ? monthly((part) => Math.min(publishing(part).publishes, 1_000 / config.exchangeInterval)) : 0;
  const arrivals = exchanges * (regions - 1);

  // Servers' writes have no marks.
  const marked = batch === undefined ? increments : 0;
  const item = (id: CostItemId, name: string, unit: keyof Prices, perMonth: number): CostItem => {
    return { id, name, unit, perMonth, dollars: perMonth * prices[unit] };
  };
  const measuring = monthly((part) => publishing(part).reads);
  const written = monthly((part) => history(part).points);
  const expired = monthly((part) => history(part).documents);
  const items = [
    item("increments", batch === undefined ? "increments" : "commits of ingest", "write", writes),
    item("receipts", "receipts of requests", "write", requests),
    item("expiredReceipts", "receipts, expired", "delete", requests),
    item("entries", "entries of increments with once", "write", increments * once),
    item("lookups", "rules' lookups for increments with once", "read", increments * once * LOOKUPS),
    item("shardCount", "shard count, read by writers", "read", perClient > 0 ? writes / Math.max(perClient, 1) : 0),
    item("markLooks", "looks at marks", "read", marked / WRITES_PER_MARK_LOOK),
    item("measurements", "measurements", "read", measuring),
    item("publishes", "published totals", "write", publishes),
    item("history", "history", "write", written),
    item("expiredHistory", "history, expired", "delete", expired),
    item("exchangeReads", "exchange with other regions: reads", "read", exchanges + arrivals),
    item("exchangeWrites", "exchange with other regions: writes", "write", arrivals),
    item("watchers", "totals, read by watchers", "read", (publishes + arrivals) * watchers),
    item("readers", "totals, read once or at first watch", "read", readsPerDay * DAYS),
    item("lastPolls", "polls after the peak", "read", lastPolls * (measuringReads(shardsAtPeak + 1) + 1)),
    item("foldListing", "folding after the peak: listing", "read", folded > 0 ? counterDays * (shardsAtPeak + 1) : 0),
    item("foldDeletes", "folding after the peak: deletes", "delete", counterDays * folded),
    item("foldBase", "folding after the peak: base", "write", folds),
    item("sweeps", "sweeps", "read", sweeps * Math.max(swept, EMPTY_SWEEP_READS)),
    item(
      "invocations",
      "function invocations",
      "invocation",
      requests + wakes + tasks + exchanges + lastPolls + sweeps + folds,
    ),
    item("tasks", "tasks", "task", tasks + exchanges + lastPolls),
  ];
  return { items, dollars: items.reduce((sum, { dollars }) => sum + dollars, 0), increments, dayParts };
}

/** How many of an item there are in a month. */
export function amountOf({ items }: MonthlyCosts, id: CostItemId): number {
  return items.find((item) => item.id === id)?.perMonth ?? 0;
}
