/** `estimate`: what traffic costs in a month. No I/O, no credentials. */

import {
  type BilledUnit,
  compareDesigns,
  type DesignCosts,
  highestRate,
  type MonthlyCosts,
  monthlyCosts,
  type PricedLocation,
  perMillion,
  pricesOf,
  type Traffic,
} from "../../costs/src/index.ts";
import { DEFAULT_SETTINGS, EDITIONS, type Edition, type Settings } from "../../functions/src/decisions.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { formatDollars, formatNumber, formatWhole, pluralize } from "./format.ts";
import { paint, print, printJson } from "./output.ts";
import { bulletList, table } from "./table.ts";

export interface EstimateOptions {
  readonly json?: boolean;
  readonly perSecond?: number;
  readonly perDay?: number;
  readonly peak?: number;
  readonly peakHours: number;
  readonly counters: number;
  readonly once: number;
  readonly watchers: number;
  readonly readsPerDay: number;
  readonly perClient: number;
  readonly batch?: number;
  readonly total?: number;
  readonly regions?: number;
  readonly history?: boolean;
  readonly direct: boolean;
  readonly edition: Edition;
  /** Default: `nam5`, and `regional` on Enterprise. */
  readonly region?: PricedLocation;
  readonly compare?: boolean;
}

const DAY_SECONDS = 86_400;

export async function estimate(options: EstimateOptions): Promise<void> {
  const traffic = parseTraffic(options);
  const { edition, region = edition === "enterprise" ? "regional" : "nam5" } = options;
  const prices = pricesOf(edition, region);
  if (!prices) {
    throw new CommandError(
      WRONG_USAGE,
      `--region ${region}: the prices of the Enterprise edition are not known there; pass --region regional, which has those of us-central1`,
    );
  }
  const { direct, history } = options;
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    direct,
    history: { ...DEFAULT_SETTINGS.history, groups: history ? "all" : [] },
  };
  const costs = monthlyCosts(traffic, prices, settings);
  const compared = options.compare ? compareEditions(traffic, region, settings) : undefined;
  if (options.json) {
    printJson({ traffic, edition, region, ...costs, notIncluded: notIncluded(edition), compared });
    return;
  }
  printCosts(traffic, options, region, costs);
  if (compared) printComparison(compared, costs);
}

type Comparison = Partial<Record<Edition, DesignCosts[]>>;

/** The designs on each edition whose prices are known. */
function compareEditions(traffic: Traffic, region: PricedLocation, settings: Settings): Comparison {
  const known = EDITIONS.map((edition) => {
    const prices = pricesOf(edition, region);
    return [edition, prices && compareDesigns([traffic], prices, settings)] as const;
  });
  return Object.fromEntries(known.filter(([, designs]) => designs));
}

function parseTraffic(options: EstimateOptions): Traffic {
  const { json, compare, history, direct, edition, region, perSecond, perDay, peak, ...traffic } = options;
  const { batch, once, regions = 1 } = traffic;
  if ((perSecond === undefined) === (perDay === undefined)) {
    throw new CommandError(WRONG_USAGE, "pass the number of increments: either --per-second <n> or --per-day <n>");
  }
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
  return { ...traffic, perSecond: average, peakPerSecond: peak ?? average };
}

function notIncluded(edition: Edition): string[] {
  const ofFirestore =
    edition === "enterprise"
      ? "50,000 read units, 40,000 write units and 50,000 real-time units a day"
      : "50,000 reads and 20,000 writes a day";
  return [
    "CPU and memory of the functions: at most $2.50 per million invocations of 100 ms each; far less where an instance serves many at a time.",
    "Storage, network, logs, and the Cloud Scheduler job of the sweep: $0.10 a month; an account has three free.",
    `The free quota is not deducted: ${ofFirestore}, 2 million invocations and 1 million tasks a month.`,
  ];
}

function assumptions(
  { counters, once, watchers, perClient, batch, peakPerSecond, perSecond, peakHours, regions = 1 }: Traffic,
  { dayParts }: MonthlyCosts,
  { edition, history }: EstimateOptions,
) {
  const [busy] = dayParts;
  const isShortened = peakPerSecond > perSecond && busy && busy.hours < peakHours;
  return [
    `${pluralize(counters, "counter")} with equal traffic. Estimate different kinds of counters separately.`,
    ...dayParts.map(({ hours, rate, direct, shards, interval }) => {
      const totals = rate === 0 ? "no total" : `a total every ${formatNumber(interval / 1_000)} s at most`;
      return `${formatNumber(hours)} hours a day: ${formatRate(rate)} increments/s per counter, ${directPart(direct, rate)}${pluralize(shards, "shard")}, ${totals}.`;
    }),
    ...(regions > 1
      ? [
          `${pluralize(regions, "region")} with equal traffic; rates and shards are those of one. All have the same prices.`,
        ]
      : []),
    ...(dayParts.some(({ direct }) => direct > 0)
      ? ["Apps increment, and the counters have no windows, history or mirrors; else pass --no-direct."]
      : []),
    ...(isShortened ? ["The peak is shorter than given: a longer one would exceed the increments of a day."] : []),
    `${formatNumber(once * 100)}% of the increments count once per user; ${pluralize(watchers, "client")} watch each counter.`,
    batch !== undefined
      ? `One instance of ingest gets all increments, in requests of ${pluralize(batch, "event")} with an id.`
      : perClient > 0
        ? `Clients read the shard count once per ${pluralize(perClient, "increment")}.`
        : "Clients that increment a counter also watch it.",
    edition === "enterprise"
      ? "The functions run with their default parameters but EDITION, and there are no indexes."
      : "The functions run with their default parameters, and the index of the shards is deployed.",
    history ? "The counters' past totals are kept." : "No past totals are kept; with --history they are.",
  ];
}

function directPart(direct: number, rate: number): string {
  return direct === 0 ? "" : `${formatWhole((direct / rate) * 100)}% of them in the counter document; `;
}

/** In the plural. */
const UNIT_NAMES: Readonly<Record<BilledUnit, string>> = {
  ...{ read: "reads", write: "writes", delete: "deletes", invocation: "invocations", task: "tasks" },
  ...{ readUnit: "read units", writeUnit: "write units", realtimeUnit: "real-time units" },
};

const LOCATION_NAMES: Readonly<Record<Edition, Readonly<Record<PricedLocation, string>>>> = {
  standard: { nam5: "nam5", regional: "regional" },
  enterprise: { nam5: "nam5", regional: "us-central1" },
};

function printCosts(traffic: Traffic, options: EstimateOptions, region: PricedLocation, costs: MonthlyCosts): void {
  const { edition } = options;
  const rows = costs.items
    .filter(({ perMonth }) => perMonth > 0)
    .map(({ name, unit, perMonth, dollars }) => [
      name,
      `${formatWhole(perMonth)} ${UNIT_NAMES[unit]}`,
      formatDollars(dollars),
    ]);
  const total = [paint("bold", "a month of 30 days"), "", paint("bold", formatDollars(costs.dollars))];
  const head = ["", "per month", `US$ in ${LOCATION_NAMES[edition][region]}`];
  print(table([...rows, total], ["left", "right", "right"], head));
  if (costs.increments > 0) {
    print(`\n${formatDollars(perMillion(costs))} per million increments.`);
  }
  print(
    `\n${bulletList("Assumed", assumptions(traffic, costs, options))}\n\n${bulletList("Not included", notIncluded(edition))}`,
  );
}

/** Two significant digits. */
function formatRate(rate: number): string {
  return Number(rate.toPrecision(2)).toString();
}

function printComparison(compared: Comparison, costs: MonthlyCosts): void {
  const peak = highestRate([costs]);
  const editions = EDITIONS.filter((edition) => compared[edition]);
  const [first = []] = editions.map((edition) => compared[edition]);
  const rows = first.map(({ name, maxPerSecond = Number.POSITIVE_INFINITY }, n) => [
    name,
    ...editions.map((edition) => formatDollars(compared[edition]?.[n]?.dollars ?? 0)),
    maxPerSecond < peak ? `limit ${formatNumber(maxPerSecond)}/s per counter, ${formatRate(peak)}/s needed` : "",
  ]);
  const head = ["with CPU and memory of functions", ...editions, ""];
  print(`\n${table(rows, ["left", ...editions.map(() => "right" as const), "left"], head)}`);
  if (!compared.enterprise) print("The prices of the Enterprise edition are known of --region regional alone.");
  print("docs/costs.md lists the assumptions about the alternatives.");
}
