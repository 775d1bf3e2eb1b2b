/** What an estimate assumes, and what it leaves out, in sentences. */
import {
  type MonthlyCosts,
  OPEN_SECONDS,
  type PricedLocation,
  REALTIME_PRICES,
  type Site,
  type Traffic,
} from "../../costs/src/index.ts";
import type { Edition } from "../../functions/src/decisions.ts";
import { formatDollars, formatNumber, formatWhole, pluralize } from "./format.ts";

interface Chosen {
  readonly edition: Edition;
  readonly history?: boolean;
}

export function notIncluded({ regions = 1 }: Pick<Traffic, "regions">): string[] {
  return [
    "Storage, network, logs, and the Cloud Scheduler job of the sweep: $0.10 a month; an account has three free.",
    `The free quota is that of ${regions > 1 ? "one of the databases" : "the database"}, and of functions and tasks, as if nothing else used them.`,
  ];
}

export function siteAssumptions({ pages, views, likes }: Site, costs: MonthlyCosts, chosen: Chosen): string[] {
  return [
    `${pluralize(pages, "page")} with equal traffic, all month: ${pluralize(views, "view")} and ${pluralize(likes, "like")}. Each page has a counter of its views and one of its likes.`,
    ...partsOfDay(costs),
    `Each view watches both counters for ${OPEN_SECONDS} seconds, and counts once. A user likes a page once.`,
    ...ofFunctions(chosen),
  ];
}

export function trafficAssumptions(traffic: Traffic, costs: MonthlyCosts, chosen: Chosen): string[] {
  const { counters, once, watchers, perClient, batch, peakPerSecond, perSecond, peakHours, regions = 1 } = traffic;
  const [busy] = costs.dayParts;
  const isShortened = peakPerSecond > perSecond && busy && busy.hours < peakHours;
  return [
    `${pluralize(counters, "counter")} with equal traffic. Estimate different kinds of counters separately.`,
    ...partsOfDay(costs),
    ...(regions > 1
      ? [
          `${pluralize(regions, "region")} with equal traffic; rates and shards are those of one. All have the same prices.`,
        ]
      : []),
    ...(isShortened ? ["The peak is shorter than given: a longer one would exceed the increments of a day."] : []),
    `${formatNumber(once * 100)}% of the increments count once per user; ${pluralize(watchers, "client")} ${watchers === 1 ? "watches" : "watch"} each counter.`,
    batch !== undefined
      ? `One instance of ingest gets all increments, in requests of ${pluralize(batch, "event")} with an id.`
      : perClient > 0
        ? `Clients read the shard count once per ${pluralize(perClient, "increment")}.`
        : "Clients that increment a counter also watch it.",
    ...ofFunctions(chosen),
  ];
}

function partsOfDay({ dayParts }: MonthlyCosts): string[] {
  return [
    ...dayParts.map(({ hours, rate, direct, shards, interval }) => {
      const totals = rate === 0 ? "no total" : `a total every ${formatNumber(interval / 1_000)} s at most`;
      return `${pluralize(hours, "hour")} a day: ${formatRate(rate)} increments/s per counter, ${directPart(direct, rate)}${pluralize(shards, "shard")}, ${totals}.`;
    }),
    ...(dayParts.some(({ direct }) => direct > 0)
      ? ["Apps increment, and the counters have no windows, history or mirrors; else pass --no-direct."]
      : []),
  ];
}

function ofFunctions({ edition, history }: Chosen): string[] {
  return [
    edition === "enterprise"
      ? "The functions run with their default parameters but EDITION, and there are no indexes."
      : "The functions run with their default parameters, and the index of the shards is deployed.",
    "An instance of the functions has one CPU and half a GiB, and serves up to 500 calls/s of 100 ms.",
    history ? "The counters' past totals are kept." : "No past totals are kept; with --history they are.",
  ];
}

function directPart(direct: number, rate: number): string {
  return direct === 0 ? "" : `${formatWhole((direct / rate) * 100)}% of them in the counter document; `;
}

/** Two significant digits. */
export function formatRate(rate: number): string {
  return Number(rate.toPrecision(2)).toString();
}

/** Why there is no estimate for the Enterprise edition there. */
export function unknownPrices(region: Exclude<PricedLocation, "regional">): string {
  const realtime = formatDollars(REALTIME_PRICES[region] * 1e6);
  return `for the Enterprise edition in ${region}, the price of real-time units alone is known (${realtime} per million); pass --region regional, which has all prices of us-central1`;
}
