/** The tables of docs/costs.md, from the functions that `npx firestore-tally estimate` computes with. */

import { table } from "../../bench/markdown.ts";
import { formatDollars, formatNumber, formatWhole } from "../../cli/src/format.ts";
import { MAX_SHARDS, partOfShard0 } from "../../core/src/index.ts";
import {
  ALTERNATIVE_PRICES,
  billingOf,
  billOf,
  type CostItem,
  compareDesigns,
  compareSite,
  type DesignCosts,
  highestRate,
  LOOKUPS,
  type MonthlyCosts,
  monthlyCosts,
  OPERATION_KINDS,
  type Operations,
  PRICES,
  perMillion,
  priceOf,
  type Site,
  siteTraffic,
  type Traffic,
  zipfTraffic,
} from "../../costs/src/index.ts";
import { CLEANING, DEFAULT_SETTINGS, MAX_LISTED_SHARDS, type Settings } from "../../functions/src/decisions.ts";
import type { Parts } from "./fill.ts";

const MONTH_SECONDS = 30 * 86_400;

const BILLED = billingOf(PRICES.nam5);
/** A measurement or an exact read: that of the shards, and the counter document. */
const measured = (shards: number) => ({ read: BILLED.measure(shards, 0) + 1 });

/** What each thing is billed as: docs/architecture.md says why. */
const THINGS: readonly (readonly [string, Partial<Operations>])[] = [
  ["an increment", { write: 1 }],
  [
    `the event of an increment in a shard: each of a single shard; 1 in ${formatWhole(1 / partOfShard0(8))} of eight, which are polled`,
    { invocation: 1 },
  ],
  ["an increment with `once`: the entry, and the rules' lookups", { write: 2, read: LOOKUPS }],
  ["its undo", { write: 1, delete: 1, read: 3 }],
  ["a server's increment: the receipt, which a TTL policy removes", { write: 2, delete: 1 }],
  ["a client's first increment: the counter document, kept for two minutes", { read: 1 }],
  [
    `for every ${CLEANING.standard.writesPerShardCleaned} increments on shards: the functions look at a shard's marks`,
    { read: 1 },
  ],
  ["a measurement, on 1 shard: the shard and the counter document", measured(1)],
  [
    `a measurement, on ${MAX_LISTED_SHARDS + 1} to 1,000 shards: two sums by the index, and the counter document`,
    measured(1_000),
  ],
  ["… without the index, on 100 shards", { read: BILLED.list(100, 0) + BILLED.count(100) + 1 }],
  ["a publish", { write: 1 }],
  [
    "… more, if a task makes it: after a wait for the interval, or in a busy counter",
    { read: 1, task: 1, invocation: 1 },
  ],
  ["a read of the total, or the start of a watch", { read: 1 }],
  ["a new total, for each client that watches", { read: 1 }],
  ["an exact read, on 4 to 1,000 shards", measured(1_000)],
  ["a shard that is folded", { read: 1, delete: 1 }],
  ["for every 200 of them, `base`", { write: 1, invocation: 1 }],
  ["a sweep that finds nothing, every 5 minutes", { read: BILLED.sweep(0, 0), invocation: 1 }],
];

function things(): string {
  const rows = THINGS.map(([name, units]) => {
    return [
      name,
      ...OPERATION_KINDS.map((unit) => (units[unit] ? formatWhole(units[unit]) : "")),
      formatDollars(priceOf(units) * 1e6),
    ];
  });
  return table(["what", ...OPERATION_KINDS.map((unit) => `${unit}s`), "$ per million"], 1, rows);
}

function prices(): string {
  const rows = Object.entries(PRICES).map(([region, all]) => [
    `\`${region}\``,
    ...OPERATION_KINDS.map((unit) => formatDollars(all[unit] * 1e6)),
  ]);
  return table(["US$ per million", ...OPERATION_KINDS.map((unit) => `${unit}s`)], 1, rows);
}

/** The site at the top of docs/costs.md. */
const SITE: Site = { pages: 500, views: 1_000_000, likes: 20_000 };

const LOCATIONS = [PRICES.nam5, PRICES.regional];
const LOCATION_NAMES = ["`nam5`", "`us-central1`"];

/** The README's table: what a month of the site is billed, with each design. */
function bills(): string {
  const [inNam5 = [], inRegion = []] = LOCATIONS.map((prices) => compareSite(SITE, prices));
  // Writers leave out an eighth of the shards, and each takes one write per second.
  const tally = `${formatWhole((MAX_SHARDS * 7) / 8)}, calculated`;
  const limits = inNam5.map(({ maxPerSecond }) => (maxPerSecond === undefined ? "not measured" : `${maxPerSecond}`));
  const rows = inNam5.map(({ name, dollars }, n) => [
    name,
    formatDollars(dollars),
    formatDollars(inRegion[n]?.dollars ?? 0),
    n === 0 ? tally : (limits[n] ?? ""),
  ]);
  return table(["a month, as billed", ...LOCATION_NAMES, "increments/s of a page, at most"], 1, rows);
}

/** Tally's bill of the site item by item, what a view and a like cost, and what unequal pages change. */
function billItems(): string {
  const all = LOCATIONS.map((prices) => {
    const costs = monthlyCosts(siteTraffic(SITE), prices);
    return { ...costs, bill: billOf(costs, prices) };
  });
  const dollars = (of: (one: (typeof all)[number]) => number) => all.map((one) => formatDollars(of(one)));
  const rows = (all[0]?.items ?? []).flatMap(({ id, name, unit, perMonth }) =>
    perMonth < 0.5 ? [] : [[name, `${formatWhole(perMonth)} ${unit}s`, ...dollars((one) => dollarsOf(one, id))]],
  );
  const added = [
    ["CPU and memory of functions", "", ...dollars(({ bill }) => bill.cpuAndMemory)],
    ["free quota", "", ...dollars(({ bill }) => -bill.freeQuota)],
    ["**billed**", "", ...dollars(({ bill }) => bill.dollars)],
  ];
  const items = table(["what", "in a month", ...LOCATION_NAMES], 1, [...rows, ...added]);
  const zipf = LOCATIONS.map((prices) =>
    formatDollars(billOf(monthlyCosts(zipfTraffic(SITE), prices), prices).dollars),
  );
  const [views, likes] = siteTraffic(SITE);
  // A view starts both watches.
  const [view, like] = [
    { ...views, readsPerDay: 2 * views.readsPerDay },
    { ...likes, readsPerDay: 0 },
  ].map(marginal);
  return [
    items,
    `A million views cost ${view} in \`nam5\`, with the reads of pages that open; a million likes ${like}, with those of open pages.`,
    `If the page at rank k has a k-th of the first page's views and likes (Zipf), ${zipf.join(" and ")} are billed.`,
  ].join("\n\n");
}

function dollarsOf({ items }: MonthlyCosts, id: CostItem["id"]): number {
  return items.find((item) => item.id === id)?.dollars ?? 0;
}

/** Per million increments, without what there is without traffic. */
function marginal(one: Traffic): string {
  const { dollars, increments } = monthlyCosts(one, PRICES.nam5);
  const idle = monthlyCosts({ ...one, perSecond: 0, peakPerSecond: 0, readsPerDay: 0 }, PRICES.nam5);
  return formatDollars(perMillion({ dollars: dollars - idle.dollars, increments }));
}

/** Enough counters to make the cost of the sweep, which does not depend on their number, negligible. */
const MANY = 1_000;

/** Counters with the same rate all month, whose clients watch and so know the shard count. */
export const steady = (perSecond: number): Traffic => ({
  perSecond: perSecond * MANY,
  peakPerSecond: perSecond * MANY,
  peakHours: 24,
  counters: MANY,
  once: 0,
  watchers: 0,
  readsPerDay: 0,
  perClient: 0,
});

const RATES = [0.001, 0.01, 0.1, 1, 10, 100, 1_000];

/**
 * Of new counters, and of those whose increments all go to shards; and what those cost that have counted for half a month, so that a
 * thousandth of their total takes a while.
 */
function rates(): string {
  const inShards: Settings = { ...DEFAULT_SETTINGS, direct: false };
  const rows = RATES.map((rate) => {
    const newer = monthlyCosts({ ...steady(rate), total: 0 }, PRICES.nam5);
    const older = monthlyCosts(steady(rate), PRICES.nam5);
    const perThousand = (unit: CostItem["unit"]) =>
      formatWhole(
        newer.items.reduce((sum, item) => sum + (item.unit === unit ? item.perMonth : 0), 0) /
          (newer.increments / 1_000),
      );
    return [
      significant(rate),
      formatWhole(newer.dayParts[0]?.shards ?? 0),
      ...(["write", "read", "invocation", "task"] as const).map(perThousand),
      formatDollars(perMillion(newer)),
      formatDollars(perMillion(monthlyCosts({ ...steady(rate), total: 0 }, PRICES.nam5, inShards))),
      formatDollars(perMillion(older)),
    ];
  });
  const head = ["increments/s", "shards", "writes", "reads", "invocations", "tasks", "$ per million"];
  return table([...head, "$ in shards alone", "$ of older counters"], 0, rows);
}

/** Per million increments that several regions count together, where every change of the total is worth a publish. */
function regions(): string {
  const rows = [1, 2, 3, 5].map((count) => {
    const cost = (rate: number) =>
      formatDollars(perMillion(monthlyCosts({ ...steady(rate), total: 0, regions: count }, PRICES.nam5)));
    return [formatWhole(count), ...REGIONAL_RATES.map(cost)];
  });
  return table(["regions", ...REGIONAL_RATES.map((rate) => `${formatWhole(rate)}/s in all`)], 0, rows);
}

const REGIONAL_RATES = [1, 10, 100, 1_000];

export interface Example {
  readonly name: string;
  /** The traffic of each kind of counter. */
  readonly kinds: Readonly<Record<string, Traffic>>;
}

/** Counters, the busy part of the day, and `views`: totals that are read for each increment. */
interface Shape {
  readonly counters: number;
  /** Increments per second of all counters in the busy part of the day, and how many hours that is. */
  readonly peak: readonly [perSecond: number, hours: number];
  readonly views: number;
  readonly watchers?: number;
}

function traffic(perMonth: number, { counters, peak, views, watchers = 0 }: Shape): Traffic {
  const [peakPerSecond, peakHours] = peak;
  const perSecond = perMonth / MONTH_SECONDS;
  const readsPerDay = (views * perMonth) / 30;
  // A page that increments a counter shows its total, so its clients know the shard count.
  return { perSecond, peakPerSecond, peakHours, counters, once: 0, watchers, readsPerDay, perClient: 0 };
}

const alike = (name: string, perMonth: number, shape: Shape): Example => ({
  name,
  kinds: { [name]: traffic(perMonth, shape) },
});

export const EXAMPLES: readonly Example[] = [
  alike("likes of a club's pages", 1e3, { counters: 10, peak: [0.002, 2], views: 10 }),
  alike("likes of a magazine", 1e6, { counters: 1_000, peak: [2, 2], views: 10 }),
  alike("downloads of one file", 1e6, { counters: 1, peak: [5, 1], views: 1 }),
  alike("views in a shop", 1e7, { counters: 10_000, peak: [15, 3], views: 1 }),
  alike("views of one page", 1e7, { counters: 1, peak: [20, 3], views: 1 }),
  {
    name: "a magazine with a hit a day",
    kinds: {
      "its posts": traffic(5e6, { counters: 1_000, peak: [8, 3], views: 10 }),
      "the hit": traffic(5e6, { counters: 1, peak: [80, 0.5], views: 10 }),
    },
  },
  alike("a hit that lasts", 1e8, { counters: 1, peak: [200, 3], views: 1 }),
  alike("likes in a network", 1e9, { counters: 1_000_000, peak: [1_000, 4], views: 10 }),
  alike("a vote of a whole country", 1e9, { counters: 1, peak: [2_000, 3], views: 1, watchers: 100 }),
];

export interface Compared {
  readonly increments: number;
  readonly peak: number;
  readonly costs: readonly MonthlyCosts[];
  readonly designs: ReturnType<typeof compareDesigns>;
}

export function compared({ kinds }: Pick<Example, "kinds">): Compared {
  const all = Object.values(kinds);
  const costs = all.map((one) => monthlyCosts(one, PRICES.nam5));
  return {
    increments: costs.reduce((sum, { increments }) => sum + increments, 0),
    peak: highestRate(costs),
    costs,
    designs: compareDesigns(all, PRICES.nam5),
  };
}

function shapes(): string {
  const rows = EXAMPLES.flatMap(({ name, kinds }) =>
    Object.entries(kinds).map(([kind, one]) => {
      const { peakPerSecond, peakHours, counters, readsPerDay, watchers } = one;
      const { increments } = monthlyCosts(one, PRICES.nam5);
      return [
        formatWhole(increments),
        kind === name ? name : `${name}: ${kind}`,
        formatWhole(counters),
        `${significant(peakPerSecond)} for ${formatNumber(peakHours)} h`,
        significant(peakPerSecond / counters),
        formatNumber((readsPerDay * 30) / increments),
        formatWhole(watchers),
      ];
    }),
  );
  const head = ["a month", "what", "counters", "peak/s, daily", "peak/s of one", "views per increment", "watchers"];
  return table(head, 2, rows);
}

function comparison(): string {
  const rows = EXAMPLES.map((example) => {
    const { designs, peak } = compared(example);
    const [tally, recipe, enough, redis] = designs;
    const least = Math.min(
      ...designs.filter(({ maxPerSecond = peak }) => maxPerSecond >= peak).map((one) => one.dollars),
    );
    const cell = ({ dollars: cost, maxPerSecond = peak }: DesignCosts) =>
      maxPerSecond < peak ? "too slow" : cost === least ? `**${money(cost)}**` : money(cost);
    return [example.name, cell(tally), cell(recipe), `${enough.name}: ${cell(enough)}`, cell(redis)];
  });
  return table(["what", "Tally", "10 fixed shards", "as many as the peak needs", "Redis"], 1, rows);
}

/** The increments a month from which Redis is cheaper, for one counter with a steady rate. */
export function breakEven(views: number): number {
  let [low, high] = [1e3, 1e12];
  while (high / low > 1.001) {
    const perMonth = Math.sqrt(low * high);
    const [tally, , , redis] = compared(alike("", perMonth, { counters: 1, peak: [0, 1], views })).designs;
    if (tally.dollars < redis.dollars) low = perMonth;
    else high = perMonth;
  }
  return high;
}

function breakEvens(): string {
  const from = (views: number) => `${significant(breakEven(views) / 1e6)} million`;
  return `For one counter with an even rate, Redis is cheaper from ${from(0)} increments a month on; with a view for each, from ${from(1)}; with ten, from ${from(10)}.`;
}

/** What Redis costs, with any client. */
function alternativePrices(): string {
  const { redisHour, request, cpuSecond, gibSecond } = ALTERNATIVE_PRICES;
  const dollars = [redisHour * 720, request * 1e6, cpuSecond * 3_600, gibSecond * 3_600].map(formatDollars);
  const [redis, requests, cpu, memory] = dollars;
  return `${redis} for 720 hours of 1 GiB of Redis, ${requests} for a million requests, ${cpu} for an hour of a CPU, ${memory} for an hour of a GiB.`;
}

function money(amount: number): string {
  return amount < 1_000 ? formatDollars(amount) : `$${formatWhole(amount)}`;
}

/** Two significant digits. */
function significant(number: number): string {
  return number.toLocaleString("en-US", { maximumSignificantDigits: 2 });
}

export function costParts(): Parts {
  return {
    "costs:bill": bills(),
    "costs:billItems": billItems(),
    "costs:each": things(),
    "costs:prices": prices(),
    "costs:rates": rates(),
    "costs:regions": regions(),
    "costs:examples": shapes(),
    "costs:comparison": comparison(),
    "costs:even": breakEvens(),
    "costs:alternatives": alternativePrices(),
  };
}
