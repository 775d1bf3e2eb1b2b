/** `estimate`: what traffic costs in a month. No I/O, no credentials. */

import {
  compareDesigns,
  type DesignCosts,
  highestRate,
  type MonthlyCosts,
  monthlyCosts,
  PRICES,
  type Traffic,
} from "../../costs/src/index.ts";
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
  readonly region: keyof typeof PRICES;
  readonly compare?: boolean;
}

const DAY_SECONDS = 86_400;

export async function estimate(options: EstimateOptions): Promise<void> {
  const traffic = parseTraffic(options);
  const prices = PRICES[options.region];
  const costs = monthlyCosts(traffic, prices);
  const compared = options.compare ? compareDesigns([traffic], prices) : undefined;
  if (options.json) {
    printJson({ traffic, region: options.region, ...costs, notIncluded: NOT_INCLUDED, compared });
    return;
  }
  printCosts(traffic, options.region, costs);
  if (compared) printComparison(compared, costs);
}

function parseTraffic(options: EstimateOptions): Traffic {
  const { json, compare, region, perSecond, perDay, peak, ...traffic } = options;
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

const NOT_INCLUDED = [
  "CPU and memory of the functions: at most $2.50 per million invocations of 100 ms each; far less where an instance serves many at a time.",
  "Storage, network, logs, and the Cloud Scheduler job of the sweep: $0.10 a month; an account has three free.",
  "The free quota is not deducted: 50,000 reads and 20,000 writes a day, 2 million invocations and 1 million tasks a month.",
];

function assumptions(
  { counters, once, watchers, perClient, batch, peakPerSecond, perSecond, peakHours, regions = 1 }: Traffic,
  { dayParts }: MonthlyCosts,
) {
  const [busy] = dayParts;
  const isShortened = peakPerSecond > perSecond && busy && busy.hours < peakHours;
  return [
    `${pluralize(counters, "counter")} with equal traffic. Estimate different kinds of counters separately.`,
    ...dayParts.map(({ hours, rate, shards, interval }) => {
      const totals = rate === 0 ? "no total" : `a total every ${formatNumber(interval / 1_000)} s at most`;
      return `${formatNumber(hours)} hours a day: ${formatRate(rate)} increments/s per counter, ${pluralize(shards, "shard")}, ${totals}.`;
    }),
    ...(regions > 1
      ? [
          `${pluralize(regions, "region")} with equal traffic; rates and shards are those of one. All have the same prices.`,
        ]
      : []),
    ...(isShortened ? ["The peak is shorter than given: a longer one would exceed the increments of a day."] : []),
    `${formatNumber(once * 100)}% of the increments count once per user; ${pluralize(watchers, "client")} watch each counter.`,
    batch !== undefined
      ? `One instance of ingest gets all increments, in requests of ${pluralize(batch, "event")} with an id.`
      : perClient > 0
        ? `Clients read the shard count once per ${pluralize(perClient, "increment")}.`
        : "Clients that increment a counter also watch it.",
    "The functions run with their default parameters, and the index of the shards is deployed.",
  ];
}

function printCosts(traffic: Traffic, region: string, costs: MonthlyCosts): void {
  const rows = costs.items
    .filter(({ perMonth }) => perMonth > 0)
    .map(({ name, unit, perMonth, dollars }) => [name, `${formatWhole(perMonth)} ${unit}s`, formatDollars(dollars)]);
  const total = [paint("bold", "a month of 30 days"), "", paint("bold", formatDollars(costs.dollars))];
  print(table([...rows, total], ["left", "right", "right"], ["", "per month", `US$ in ${region}`]));
  if (costs.increments > 0) {
    print(`\n${formatDollars((costs.dollars / costs.increments) * 1e6)} per million increments.`);
  }
  print(`\n${bulletList("Assumed", assumptions(traffic, costs))}\n\n${bulletList("Not included", NOT_INCLUDED)}`);
}

/** Two significant digits. */
function formatRate(rate: number): string {
  return Number(rate.toPrecision(2)).toString();
}

function printComparison(designs: readonly DesignCosts[], costs: MonthlyCosts): void {
  const peak = highestRate([costs]);
  const rows = designs.map(({ name, dollars, maxPerSecond = Number.POSITIVE_INFINITY }) => [
    name,
    formatDollars(dollars),
    maxPerSecond < peak ? `limit ${formatNumber(maxPerSecond)}/s per counter, ${formatRate(peak)}/s needed` : "",
  ]);
  print(`\n${table(rows, ["left", "right", "left"], ["with CPU and memory of functions", "per month", ""])}`);
  print("docs/costs.md lists the assumptions about the alternatives.");
}
