/**
 * A site whose pages each show their views and their likes live: two counters for each page, which every open page watches. A page
 * counts its view when it opens, and stays open for a minute. A user likes a page once.
 */
import { DEFAULT_SETTINGS, type Settings } from "../../functions/src/decisions.ts";
import {
  clientsAlone,
  type DesignCosts,
  fixedShards,
  RECIPE_SHARDS,
  redisDesign,
  type Step,
  shardSteps,
  tallyDesign,
  type Workload,
  WRITES_PER_DOCUMENT,
  withCosts,
} from "./alternatives.ts";
import type { PriceList } from "./prices.ts";
import { BYTES } from "./storedDocuments.ts";
import { DAYS, MONTH_SECONDS, type Traffic } from "./traffic.ts";
import { billingOf } from "./units.ts";

/** Of all pages, in a month. Pages are equal, and views and likes are spread evenly over the month. */
export interface Site {
  readonly pages: number;
  readonly views: number;
  readonly likes: number;
}

/** How long a page is open. */
export const OPEN_SECONDS = 60;

/** Of the counters of views, and of those of likes. */
export function siteTraffic({ pages, views, likes }: Site): [views: Traffic, likes: Traffic] {
  // The page that counts, and the others that are open at that time.
  const watchers = 1 + (OPEN_SECONDS * views) / MONTH_SECONDS / pages;
  const counters = (perMonth: number, once: number): Traffic => ({
    perSecond: perMonth / MONTH_SECONDS,
    peakPerSecond: perMonth / MONTH_SECONDS,
    peakHours: 24,
    counters: pages,
    ...{ once, watchers },
    // Each view starts a watch of either counter, so its client knows the shard count.
    readsPerDay: views / DAYS,
    perClient: 0,
  });
  return [counters(views, 0), counters(likes, 1)];
}

/** The site with pages of unequal popularity: the page at rank k has a k-th of the views and likes of the first one. */
export function zipfTraffic({ pages, views, likes }: Site): Traffic[] {
  const weights = Array.from({ length: pages }, (_, rank) => 1 / (rank + 1));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.flatMap((weight) =>
    siteTraffic({ pages: 1, views: (views * weight) / all, likes: (likes * weight) / all }),
  );
}

/**
 * Tally, then the alternatives, for the same site.
 *
 * Where there is a choice, the cheaper: one document of a page, or each of its shards, has both numbers, so one watch shows them; and of
 * Redis, one call counts a view and returns both.
 */
export function compareSite(site: Site, prices: PriceList, config: Settings = DEFAULT_SETTINGS): DesignCosts[] {
  const both = siteTraffic(site);
  const all = withCosts(both, prices, config);
  const [views, likes] = all as [Workload, Workload];
  const together = [views, { ...likes, readsPerDay: 0 }];
  const answered = all.map((one) => ({ ...one, readsPerDay: 0, watchers: one.watchers - 1 }));
  const counting = [...shardSteps(1, [views], prices), ...countedLikes(site, likes, prices)];
  return [
    tallyDesign(both, prices, config),
    { ...fixedShards(1, together, prices), name: "increment(1) on one document" },
    clientsAlone("… and count() of likes", counting, prices, WRITES_PER_DOCUMENT),
    fixedShards(RECIPE_SHARDS, together, prices),
    redisDesign(answered, prices),
  ];
}

/** A document for each like, whose rules need no lookup, and for each view a count of its page's. The count is not live. */
function countedLikes({ pages }: Site, { costs, readsPerDay }: Workload, prices: PriceList): Step[] {
  const { count, write } = billingOf(prices);
  return [
    ["likes", "write", costs.increments * write(BYTES.entry)],
    // As many likes as a page has after a month.
    ["likes, counted", "read", readsPerDay * DAYS * count(costs.increments / pages)],
  ];
}
