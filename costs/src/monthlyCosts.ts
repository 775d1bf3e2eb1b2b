/**
 * What traffic costs in a month, item by item.
 *
 * What each publish takes follows from how the functions work (docs/architecture.md):
 *
 *     calm      clients write the counter document, and no function runs (directShare.ts)
 *     busy      polled: each interval takes 1 task, 1 measurement and 1 publish. The task reads the counter document, and
 *               so does a wake that comes after the poll was due. Only writes to shard 0 wake a function
 *     idle      a publish waits for the interval, then for the first write after it. An earlier write wakes a function,
 *               which reads the counter document and schedules a task
 *     after it  some 13 polls: each longest interval for a minute, while the shard count is above 1; then once in each of the
 *               phases shrunk and cooling. The last one folds
 *     regions   each has its part of the traffic. An exchange follows a publish, once in its interval: 1 task and 1 read,
 *               and for each other region 1 read and 1 write
 *     history   if it is chosen, a write for each hour with a publish, and for each minute with a publish of a busy counter; one document
 *               for each day of hours and each hour of minutes, deleted when it expires
 */
import { partOfShard0 } from "../../core/src/index.ts";
import { areAny, CLEANING, DEFAULT_SETTINGS, type Settings, settingsOn } from "../../functions/src/decisions.ts";
import { intervalsOf } from "../../functions/src/features/regions/intervals.ts";
import { type BilledUnit, type PriceList, priceOf } from "./prices.ts";
import { historyPerSecond, isPolled, publishingPerSecond } from "./publishing.ts";
import { BYTES, type Chosen, counterBytes, historyBytes, markedShard } from "./storedDocuments.ts";
import { DAYS, type DayPart, dayPartsOf, shareOf, type Traffic } from "./traffic.ts";
import { type Billing, billingOf, type Operation } from "./units.ts";

export type CostItemId =
  | "directIncrements"
  | "increments"
  | "receipts"
  | "expiredReceipts"
  | "entries"
  | "lookups"
  | "shardCount"
  | "markCleanings"
  | "markRemovals"
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
  /** What is billed: operations on the Standard edition, units on Enterprise. */
  readonly unit: BilledUnit;
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

/** Documents that the rules look up for an increment with `once`, whatever their result: its shard and its entry. */
export const LOOKUPS = 2;

/** Looks that find marks to remove, on Enterprise where increments go through the queue: as `npm run simulate` bills them. */
const REMOVALS_PER_CLEANING = 0.6;

/** Polls of a counter after its peak, from busy to cooling (functions/src/counter/phase.ts). */
const LAST_POLLS = 13;

/** Commits of an instance of ingest for each read of a shard count. */
const WRITES_PER_READ = 20;

/** Shards per batch of a fold. */
const FOLD_BATCH = 200;

/** In milliseconds, as EXCHANGE_SECONDS is by default. */
const DEFAULT_EXCHANGE_INTERVAL = 1_000;

/** Dollars per million increments. */
export function perMillion({ dollars, increments }: Pick<MonthlyCosts, "dollars" | "increments">): number {
  return (dollars / increments) * 1e6;
}

/**
 * @param traffic  of all counters, or of each kind of them
 * @param prices   of the edition of the database, which the shard count follows
 */
export function monthlyCosts(
  traffic: Traffic | readonly Traffic[],
  prices: PriceList,
  settings: Settings = DEFAULT_SETTINGS,
): MonthlyCosts {
  const kinds = [traffic].flat();
  const parts = kinds.map((kind) => costsOfKind(kind, prices, settings));
  const swept = parts.reduce((sum, part) => sum + part.swept, 0);
  const regions = Math.max(...kinds.map((kind) => kind.regions ?? 1));
  const bytes = counterBytes(regions, chosenBy(settings));
  const ofSweeps: Partial<Record<CostItemId, number>> = {
    sweeps: regions * SWEEPS * billingOf(prices).sweep(swept, bytes),
    invocations: regions * SWEEPS,
  };
  const items = (parts[0]?.items ?? []).map(({ id, name, unit }, at) => {
    const perMonth = parts.reduce((sum, part) => sum + (part.items[at]?.perMonth ?? 0), ofSweeps[id] ?? 0);
    return { id, name, unit, perMonth, dollars: priceOf({ [unit]: perMonth }, prices) };
  });
  return {
    items,
    dollars: items.reduce((sum, { dollars }) => sum + dollars, 0),
    increments: parts.reduce((sum, { increments }) => sum + increments, 0),
    dayParts: parts.flatMap(({ dayParts }) => dayParts),
  };
}

const chosenBy = ({ windows, history }: Settings): Chosen => ({
  windows: areAny(windows.groups),
  history: areAny(history.groups),
});

/** Without the sweeps, which do not depend on how many kinds of counters there are. */
function costsOfKind(all: Traffic, prices: PriceList, settings: Settings) {
  const { regions = 1 } = all;
  const billing = billingOf(prices);
  const onEdition = { ...settingsOn(billing.edition, settings), exchangeInterval: DEFAULT_EXCHANGE_INTERVAL };
  const config = intervalsOf(onEdition, regions);
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

  // Writers that watch use the SDK's queue, and so do increments with `once`. Servers' writes have no marks.
  const queued = perClient === 0 ? 1 : once;
  const shardOf = ({ writes, shards }: DayPart) =>
    batch === undefined ? markedShard(writes / shards, queued) : { bytes: BYTES.unmarkedShard, units: 1 };
  const chosen = chosenBy(config);
  const counter = counterBytes(regions, chosen);
  const base = folded > 0 ? 1 : 0;
  const publishing = (part: DayPart) =>
    publishingPerSecond(part, config, billing.measure(part.shards + base, shardOf(part).bytes));
  const history = (part: DayPart) =>
    historyUnits(historyPerSecond(part, publishing(part).publishes, config), billing, chosen);
  const increments = monthly(({ rate }) => rate);
  const writes = monthly((part) => part.writes);
  const direct = monthly((part) => part.direct);
  const shardWrites = monthly((part) => part.writes * billing.shardWrite(shardOf(part)));
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

  const marked = batch === undefined ? writes : 0;
  const cleaning = CLEANING[billing.edition];
  const item = (id: CostItemId, name: string, operation: Operation, perMonth: number) => ({
    ...{ id, name, perMonth },
    unit: billing.units[operation],
  });
  const measured = monthly((part) => publishing(part).reads);
  const written = monthly((part) => history(part).writes);
  const expired = monthly((part) => history(part).deletes);
  const bytesAtPeak = dayParts[0] ? shardOf(dayParts[0]).bytes : 0;
  const measuredAtPeak = billing.measure(shardsAtPeak + 1, bytesAtPeak);
  const listedAtPeak = billing.list(shardsAtPeak + 1, bytesAtPeak);
  // Documents that are read one by one are below 4 KiB: one unit each.
  const items = [
    item("directIncrements", "increments, in counter documents", "write", direct * billing.write(BYTES.directCounter)),
    item("increments", batch === undefined ? "increments, in shards" : "commits of ingest", "write", shardWrites),
    item("receipts", "receipts of requests", "write", requests * billing.write(BYTES.receipt)),
    item("expiredReceipts", "receipts, expired", "delete", requests * billing.write(BYTES.receipt)),
    item("entries", "entries of increments with once", "write", increments * once * billing.write(BYTES.entry)),
    item("lookups", "rules' lookups for increments with once", "read", increments * once * LOOKUPS),
    item(
      "shardCount",
      "counter documents, read by writers",
      "read",
      perClient > 0 ? (direct + writes) / Math.max(perClient, 1) : 0,
    ),
    item("markCleanings", "shards read to clean marks", "read", marked / cleaning.writesPerShardCleaned),
    item(
      "markRemovals",
      "expired marks, removed",
      "write",
      billing.edition === "enterprise" ? (REMOVALS_PER_CLEANING * queued * marked) / cleaning.writesPerShardCleaned : 0,
    ),
    item("measurements", "measurements", "read", measured),
    item("publishes", "published totals", "write", publishes * billing.write(counter)),
    item("history", "history", "write", written),
    item("expiredHistory", "history, expired", "delete", expired),
    item("exchangeReads", "exchange with other regions: reads", "read", exchanges + arrivals),
    item("exchangeWrites", "exchange with other regions: writes", "write", arrivals * billing.write(counter)),
    item("watchers", "totals, read by watchers", "update", (direct + publishes + arrivals) * watchers),
    item("readers", "totals, read once or at first watch", "read", readsPerDay * DAYS),
    item("lastPolls", "polls after the peak", "read", lastPolls * (measuredAtPeak + 1)),
    item("foldListing", "folding after the peak: listing", "read", base * counterDays * listedAtPeak),
    item("foldDeletes", "folding after the peak: deletes", "delete", counterDays * folded * billing.write(bytesAtPeak)),
    item("foldBase", "folding after the peak: base", "write", folds),
    item("sweeps", "sweeps", "read", 0),
    item("invocations", "function invocations", "invocation", requests + wakes + tasks + exchanges + lastPolls + folds),
    item("tasks", "tasks", "task", tasks + exchanges + lastPolls),
  ];
  return { items, increments, dayParts, swept };
}

/** What the history's writes and deletes are billed as, per second. A document grows by a point with each write. */
function historyUnits(parts: ReturnType<typeof historyPerSecond>, { write }: Billing, chosen: Chosen) {
  const all = Object.values(parts).map(({ points, documents }) => {
    const filled = Math.max(Math.round(points / documents || 0), 1);
    const sizes = Array.from({ length: filled }, (_, n) => write(historyBytes(n + 1, chosen)));
    const mean = sizes.reduce((sum, one) => sum + one, 0) / filled;
    return { writes: points * mean, deletes: documents * write(historyBytes(filled, chosen)) };
  });
  const sum = (of: "writes" | "deletes") => all.reduce((total, one) => total + one[of], 0);
  return { writes: sum("writes"), deletes: sum("deletes") };
}

/** How many totals of all counters were new in a month, at one write unit each. */
export function newTotals(costs: MonthlyCosts): number {
  return amountOf(costs, "directIncrements") + amountOf(costs, "publishes");
}

/** How many of an item there are in a month. */
export function amountOf({ items }: MonthlyCosts, id: CostItemId): number {
  return items.find((item) => item.id === id)?.perMonth ?? 0;
}
