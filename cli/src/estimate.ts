/** `estimate`: what a traffic costs in a month. No I/O, no credentials. */

import { type Costs, costsOf, PRICES, type Traffic } from "../../costs/src/costs.ts";
import { type Contender, compare, peakOf } from "./rivals.ts";
import { list, paint, print, printJson, table } from "./screen.ts";
import { Stop, WRONG_USAGE } from "./stop.ts";
import { dollars, inWords, rounded, several } from "./words.ts";

export interface EstimateOptions {
  readonly json?: boolean;
  readonly perSecond?: number;
  readonly perDay?: number;
  readonly peak?: number;
  readonly peakHours: number;
  readonly counters: number;
  readonly keyed: number;
  readonly watchers: number;
  readonly readsPerDay: number;
  readonly perClient: number;
  readonly total?: number;
  readonly region: keyof typeof PRICES;
  readonly compare?: boolean;
}

const DAY_SECONDS = 86_400;

export async function estimate(options: EstimateOptions): Promise<void> {
  const traffic = trafficOf(options);
  const prices = PRICES[options.region];
  const estimated = costsOf(traffic, prices);
  const compared = options.compare ? compare([traffic], prices) : undefined;
  if (options.json) {
    printJson({ traffic, region: options.region, ...estimated, notIncluded: NOT_INCLUDED, compared });
    return;
  }
  show(traffic, options.region, estimated);
  if (compared) showCompared(compared, estimated);
}

function trafficOf(options: EstimateOptions): Traffic {
  const { perSecond, perDay, peak, peakHours, counters, keyed, watchers, readsPerDay, perClient, total } = options;
  if ((perSecond === undefined) === (perDay === undefined)) {
    throw new Stop(WRONG_USAGE, "say how much is counted: --per-second <n> or --per-day <n>");
  }
  const average = perSecond ?? (perDay ?? 0) / DAY_SECONDS;
  if (peak !== undefined && peak < average) {
    throw new Stop(WRONG_USAGE, `--peak ${peak} is less than the average of ${inWords(average)} per second`);
  }
  const peakPerSecond = peak ?? average;
  return { perSecond: average, peakPerSecond, peakHours, counters, keyed, watchers, readsPerDay, perClient, total };
}

const NOT_INCLUDED = [
  "CPU and memory of the functions: at most $2.50 per million invocations of 100 ms each; far less where an instance serves many at a time.",
  "Storage, network, logs.",
  "The free quota is not taken off: 50,000 reads and 20,000 writes a day, 2 million invocations and 1 million tasks a month.",
];

/** What stands behind the figures. */
function assumptions(
  { counters, keyed, watchers, perClient, peakPerSecond, perSecond, peakHours }: Traffic,
  { phases }: Costs,
) {
  const [busy] = phases;
  const shortened = peakPerSecond > perSecond && busy && busy.hours < peakHours;
  return [
    `${several(counters, "counter")}, written alike. Estimate unlike ones one kind at a time.`,
    ...phases.map(({ hours, rate, shards, interval }) => {
      const pace = rate === 0 ? "no total" : `a total every ${inWords(interval / 1_000)} s at most`;
      return `${inWords(hours)} hours a day: ${significant(rate)} increments/s of each, ${several(shards, "shard")}, ${pace}.`;
    }),
    ...(shortened ? [`The peak lasts no longer, since it would be more than the increments of a day.`] : []),
    `${inWords(keyed * 100)}% of the increments have a key; ${several(watchers, "client")} watch each counter.`,
    perClient > 0
      ? `Clients read the shard count once per ${several(perClient, "increment")}.`
      : "Clients that increment a counter watch it, too.",
    "The functions run with their default parameters, and the index of the shards is deployed.",
  ];
}

function show(traffic: Traffic, region: string, costs: Costs): void {
  const shown = costs.items.filter(({ perMonth }) => perMonth > 0);
  const rows = shown.map(({ name, unit, perMonth, dollars: cost }) => [
    name,
    `${rounded(perMonth)} ${unit}s`,
    dollars(cost),
  ]);
  const total = [paint("bold", "a month of 30 days"), "", paint("bold", dollars(costs.dollars))];
  print(table([...rows, total], ["left", "right", "right"], ["", "per month", `US$ in ${region}`]));
  if (costs.increments > 0) print(`\n${dollars((costs.dollars / costs.increments) * 1e6)} per million increments.`);
  print(`\n${list("Assumed", assumptions(traffic, costs))}\n\n${list("Not included", NOT_INCLUDED)}`);
}

function significant(rate: number): string {
  return Number(rate.toPrecision(2)).toString();
}

function showCompared(contenders: readonly Contender[], costs: Costs): void {
  const peak = peakOf([costs]);
  const rows = contenders.map(({ name, dollars: cost, most = Number.POSITIVE_INFINITY }) => [
    name,
    dollars(cost),
    most < peak ? `takes ${inWords(most)}/s of a counter, not ${significant(peak)}/s` : "",
  ]);
  print(`\n${table(rows, ["left", "right", "left"], ["with CPU and memory of functions", "per month", ""])}`);
  print("What is assumed of the others is in docs/costs.md.");
}
