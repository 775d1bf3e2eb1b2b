/** `estimate`: what traffic costs in a month. No I/O, no credentials. */

import {
  type Bill,
  type BilledUnit,
  billOf,
  type DesignCosts,
  highestRate,
  type MonthlyCosts,
  monthlyCosts,
  type PricedLocation,
  perMillion,
  pricesOf,
} from "../../costs/src/index.ts";
import { DEFAULT_SETTINGS, EDITIONS, type Edition, type Settings } from "../../functions/src/decisions.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { formatRate, notIncluded, unknownPrices } from "./estimateAssumptions.ts";
import { type EstimateOptions, type EstimateSubject, parseSubject } from "./estimateOptions.ts";
import { formatDollars, formatNumber, formatWhole } from "./format.ts";
import { paint, print, printJson, printText } from "./output.ts";
import { PAGES } from "./setup/packaged.ts";
import { bulletList, table } from "./table.ts";

export async function estimate(options: EstimateOptions): Promise<void> {
  const subject = parseSubject(options);
  const { edition, region = edition === "enterprise" ? "regional" : "nam5" } = options;
  const prices = pricesOf(edition, region);
  if (!prices) throw new CommandError(WRONG_USAGE, `--region ${region}: ${unknownPrices("nam5")}`);
  const { direct, history } = options;
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    direct,
    history: { ...DEFAULT_SETTINGS.history, groups: history ? "all" : [] },
  };
  const { traffic, regions } = subject;
  const costs = monthlyCosts(traffic, prices, settings);
  const bill = billOf(costs, prices, regions);
  const compared = options.compare ? compareEditions(subject, region, settings) : undefined;
  if (options.json) {
    printJson({ traffic, edition, region, ...costs, bill, notIncluded: notIncluded(subject), compared });
    return;
  }
  printCosts(LOCATION_NAMES[edition][region], costs, bill);
  print(
    `\n${bulletList("Assumed", subject.assumptions(costs))}\n\n${bulletList("Not included", notIncluded(subject))}`,
  );
  if (compared) printComparison(compared, costs);
}

type Comparison = Partial<Record<Edition, readonly DesignCosts[]>>;

/** The designs on each edition whose prices are known. */
function compareEditions({ compare }: EstimateSubject, region: PricedLocation, settings: Settings): Comparison {
  const known = EDITIONS.map((edition) => {
    const prices = pricesOf(edition, region);
    return [edition, prices && compare(prices, settings)] as const;
  });
  return Object.fromEntries(known.filter(([, designs]) => designs));
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

function printCosts(location: string, costs: MonthlyCosts, bill: Bill): void {
  const rows = costs.items
    .filter(({ perMonth }) => perMonth >= 0.5)
    .map(({ name, unit, perMonth, dollars }) => [
      name,
      `${formatWhole(perMonth)} ${UNIT_NAMES[unit]}`,
      formatDollars(dollars),
    ]);
  const added = [
    ["CPU and memory of functions", "", formatDollars(bill.cpuAndMemory)],
    ["free quota", "", formatDollars(-bill.freeQuota)],
    [paint("bold", "a month of 30 days"), "", paint("bold", formatDollars(bill.dollars))],
  ];
  print(table([...rows, ...added], ["left", "right", "right"], ["", "per month", `US$ in ${location}`]));
  if (costs.increments > 0) {
    const price = formatDollars(perMillion(costs));
    printText(`\n${price} per million increments, without CPU and memory and without the free quota.`);
  }
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
  const head = ["a month, as billed", ...editions, ""];
  print(`\n${table(rows, ["left", ...editions.map(() => "right" as const), "left"], head)}`);
  if (!compared.enterprise) printText(`Enterprise: ${unknownPrices("nam5")}.`);
  print(`What is assumed of the alternatives:\n${PAGES}/costs.md#what-is-assumed-of-the-others`);
}
