/** The tables and the chart of both editions of Firestore, in docs/costs.md. */
import { table } from "../../bench/markdown.ts";
import { formatDollars, formatWhole } from "../../cli/src/format.ts";
import {
  type BilledUnit,
  type Billing,
  BYTES,
  billingOf,
  bucketBytes,
  counterBytes,
  ENTERPRISE_PRICES,
  historyBytes,
  markedShard,
  monthlyCosts,
  PRICES,
  type PriceList,
  perMillion,
  priceOf,
  REALTIME_PRICES,
  readUnits,
  type Traffic,
  writeUnits,
} from "../../costs/src/index.ts";
import { DEFAULT_SETTINGS } from "../../functions/src/decisions.ts";
import { steady } from "./costTables.ts";
import type { Parts } from "./fill.ts";

const STANDARD = PRICES.regional;
const ENTERPRISE = ENTERPRISE_PRICES.regional;
const RATES = [0.05, 0.5, 1, 10, 100, 1_000];

/** Dollars per million increments of counters that are watched and have a large total. */
function costOf(rate: number, prices: PriceList, some: Partial<Traffic> = {}, settings = DEFAULT_SETTINGS): number {
  return perMillion(monthlyCosts({ ...steady(rate), ...some }, prices, settings));
}

function rates(): string {
  const rows = RATES.map((rate) => {
    const shards = [STANDARD, ENTERPRISE].map((prices) => monthlyCosts(steady(rate), prices).dayParts[0]?.shards ?? 0);
    const dollars = [
      ...[costOf(rate, STANDARD), costOf(rate, ENTERPRISE), costOf(rate, ENTERPRISE, { perClient: 20 })],
      costOf(rate, ENTERPRISE, {}, { ...DEFAULT_SETTINGS, history: { ...DEFAULT_SETTINGS.history, groups: "all" } }),
      ...[STANDARD, ENTERPRISE].map((prices) => costOf(rate, prices, { once: 1 })),
    ];
    return [rate, ...shards, ...dollars.map(formatDollars)].map((cell) =>
      typeof cell === "number" ? cell.toLocaleString("en-US") : cell,
    );
  });
  const head = [
    "increments/s",
    "shards, Standard",
    "shards, Enterprise",
    "view, Standard",
    "view, Enterprise",
    "… not watched",
    "… with history",
  ];
  return table([...head, "like, Standard", "like, Enterprise"], 0, rows);
}

const UNITS = [
  ["readUnit", "read units"],
  ["writeUnit", "write units"],
  ["realtimeUnit", "real-time units"],
] as const;

type Amounts = Partial<Record<BilledUnit, number>>;

const [STANDARD_BILLING, BILLING] = [STANDARD, ENTERPRISE].map(billingOf) as [Billing, Billing];
const COUNTER = counterBytes();

/** The counters of a board that are read, of all that a group has. */
const [SHOWN, ALL] = [10, 1_000];

const meanHistory =
  Array.from({ length: 60 }, (_, n) => writeUnits(historyBytes(n + 1))).reduce((sum, one) => sum + one, 0) / 60;

/** A measurement: that of the shards, and the counter document. */
function measured(rate: number, prices: PriceList): number {
  const { dayParts } = monthlyCosts(steady(rate), prices);
  const { writes = 0, shards = 1 } = dayParts[0] ?? {};
  return billingOf(prices).measure(shards, markedShard(writes / shards, 1).bytes) + 1;
}

const measurement = (rate: number) =>
  [
    `a measurement at ${formatWhole(rate)} increment${rate === 1 ? "" : "s"}/s`,
    { read: measured(rate, STANDARD) },
    { readUnit: measured(rate, ENTERPRISE) },
  ] as const;

/** What one of each is billed as: on Standard, and on Enterprise. */
const THINGS: readonly (readonly [name: string, standard: Amounts | undefined, enterprise: Amounts])[] = [
  ["an increment, in a transaction", { write: 1 }, { writeUnit: markedShard(0.2, 0).units }],
  ["… through the queue of a client that watches", { write: 1 }, { writeUnit: markedShard(0.2, 1).units }],
  ["a new total, for each client that watches", { read: 1 }, { realtimeUnit: readUnits(COUNTER) }],
  ["a read of the total, or the start of a watch", { read: 1 }, { readUnit: readUnits(COUNTER) }],
  measurement(1),
  measurement(100),
  ["a minute of the history, in a document of an hour", { write: 1 }, { writeUnit: meanHistory }],
  ["a new visitor among many", { write: 1, invocation: 1 }, { writeUnit: writeUnits(bucketBytes(50)), invocation: 1 }],
  [
    "a visitor with no other within 10 seconds",
    { write: 3, read: 2, delete: 1, invocation: 2 },
    {
      writeUnit: 2 * writeUnits(bucketBytes(1)) + writeUnits(COUNTER) + writeUnits(BYTES.sketch),
      readUnit: readUnits(bucketBytes(1)) + readUnits(BYTES.sketch),
      invocation: 2,
    },
  ],
  [
    `the ${SHOWN} largest of ${formatWhole(ALL)} counters, by an index`,
    { read: STANDARD_BILLING.lookUp(SHOWN, COUNTER) },
    { readUnit: BILLING.lookUp(SHOWN, COUNTER) },
  ],
  ["… and by a scan, without an index", undefined, { readUnit: BILLING.list(ALL, COUNTER) }],
  ["… the index, for each total that changes", {}, { writeUnit: writeUnits(COUNTER, 2) - writeUnits(COUNTER) }],
  [
    "a sweep that finds nothing",
    { read: STANDARD_BILLING.sweep(0, COUNTER), invocation: 1 },
    { readUnit: BILLING.sweep(0, COUNTER), invocation: 1 },
  ],
];

/** How many published totals for each read of a board make its index as dear as a scan. */
export function dearIndex(): number {
  const [byIndex, byScan] = [BILLING.lookUp(SHOWN, COUNTER), BILLING.list(ALL, COUNTER)];
  const index = writeUnits(COUNTER, 2) - writeUnits(COUNTER);
  return priceOf({ readUnit: byScan - byIndex }, ENTERPRISE) / priceOf({ writeUnit: index }, ENTERPRISE);
}

/** Dollars of a month of sweeps that scan a million counter documents, by two queries each. */
export function scanningSweeps(): number {
  return priceOf({ readUnit: 30 * 24 * 12 * 2 * BILLING.list(1_000_000, COUNTER) }, ENTERPRISE);
}

/** `$0.315` */
const priced = (price: number) =>
  (price * 1e6).toLocaleString("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 3 });

function realtime(): string {
  const all = Object.entries(REALTIME_PRICES).map(([location, price]) => `\`${location}\` ${priced(price)}`);
  return `A million real-time units: ${all.join(", ")}.`;
}

function things(): string {
  const rows = THINGS.map(([name, standard, enterprise]) => {
    const counts = UNITS.map(([unit]) => (enterprise[unit] ? Number(enterprise[unit].toFixed(1)) : ""));
    const dollars = [
      standard ? formatDollars(priceOf(standard, STANDARD) * 1e6) : "not possible",
      formatDollars(priceOf(enterprise, ENTERPRISE) * 1e6),
    ];
    return [name, ...counts, ...dollars];
  });
  const priced = UNITS.map(([unit, name]) => `${name}, ${formatDollars(ENTERPRISE[unit] * 1e6)}`);
  return table(["a million times", ...priced, "$, Standard", "$, Enterprise"], 1, rows);
}

/** Dollars per million views at each rate, for the chart. */
export interface EditionCosts {
  readonly perSecond: number;
  readonly standard: number;
  readonly enterprise: number;
}

export function editionCosts(): EditionCosts[] {
  return RATES.map((perSecond) => {
    const [standard, enterprise] = [costOf(perSecond, STANDARD), costOf(perSecond, ENTERPRISE)];
    return { perSecond, standard, enterprise };
  });
}

export function editionParts(): Parts {
  return { "costs:editions": rates(), "costs:editionThings": things(), "costs:realtime": realtime() };
}
