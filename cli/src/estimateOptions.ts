/** The options of `estimate`, and the counters or the site that they describe. */
import {
  compareDesigns,
  compareSite,
  type DesignCosts,
  type MonthlyCosts,
  type PricedLocation,
  type PriceList,
  type Site,
  siteTraffic,
  type Traffic,
} from "../../costs/src/index.ts";
import type { Edition, Settings } from "../../functions/src/decisions.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { siteAssumptions, trafficAssumptions } from "./estimateAssumptions.ts";
import { formatNumber } from "./format.ts";

/** As the command line parses them: the fields of a traffic, or a site. */
export interface EstimateOptions extends Omit<Traffic, "perSecond" | "peakPerSecond"> {
  readonly json?: boolean;
  readonly perSecond?: number;
  readonly perDay?: number;
  readonly peak?: number;
  readonly pages?: number;
  readonly views?: number;
  readonly likes?: number;
  readonly history?: boolean;
  readonly direct: boolean;
  readonly edition: Edition;
  /** Default: `nam5`, and `regional` on Enterprise. */
  readonly region?: PricedLocation;
  readonly compare?: boolean;
}

const DAY_SECONDS = 86_400;

/** Counters of one kind, or a site. */
export interface EstimateSubject {
  readonly traffic: Traffic | readonly Traffic[];
  readonly regions?: number | undefined;
  compare(prices: PriceList, settings: Settings): readonly DesignCosts[];
  assumptions(costs: MonthlyCosts): string[];
}

export function parseSubject(options: EstimateOptions): EstimateSubject {
  const { pages, views, likes = 0, perSecond, perDay } = options;
  if (pages !== undefined && views !== undefined) return siteSubject({ pages, views, likes }, options);
  if ((pages ?? views ?? options.likes) !== undefined) {
    throw new CommandError(WRONG_USAGE, "--pages and --views belong together, and --likes to both; pass all of them");
  }
  if ((perSecond === undefined) === (perDay === undefined)) {
    throw new CommandError(
      WRONG_USAGE,
      "pass the number of increments: either --per-second <n> or --per-day <n>; or a site: --pages <n> --views <n> --likes <n>",
    );
  }
  const traffic = parseTraffic(options);
  return {
    traffic,
    regions: traffic.regions,
    compare: (prices, settings) => compareDesigns([traffic], prices, settings),
    assumptions: (costs) => trafficAssumptions(traffic, costs, options),
  };
}

function siteSubject(site: Site, options: EstimateOptions): EstimateSubject {
  return {
    traffic: siteTraffic(site),
    compare: (prices, settings) => compareSite(site, prices, settings),
    assumptions: (costs) => siteAssumptions(site, costs, options),
  };
}

function parseTraffic(options: EstimateOptions): Traffic {
  const { perSecond, perDay, peak, peakHours, counters, once, watchers, readsPerDay, perClient, batch, total } =
    options;
  const { compare, regions = 1 } = options;
  const average = perSecond ?? (perDay ?? 0) / DAY_SECONDS;
  if (peak !== undefined && peak < average) {
    throw new CommandError(
      WRONG_USAGE,
      `--peak ${peak} is less than the average of ${formatNumber(average)} per second; pass a higher one`,
    );
  }
  if (batch !== undefined && once > 0) {
    throw new CommandError(
      WRONG_USAGE,
      "--once and --batch: ingest has none that counts once per user; pass one of them",
    );
  }
  if (compare && regions > 1) {
    throw new CommandError(
      WRONG_USAGE,
      "--compare and --regions: the other designs have one database; pass one of them",
    );
  }
  return {
    ...{ perSecond: average, peakPerSecond: peak ?? average, peakHours, counters, once },
    ...{ watchers, readsPerDay, perClient, batch, total, regions },
  };
}
