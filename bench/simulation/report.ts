/** The tables that are printed. */
import { type Cell, table } from "../../cli/src/table.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import { ITEMS } from "./bill.ts";
import type { Popularity, Summary } from "./summary.ts";

function time(duration: Millis | undefined): string {
  if (duration === undefined || Number.isNaN(duration)) return "–";
  if (duration < 1_000) return `${Math.round(duration)} ms`;
  if (duration < 100_000) return `${(duration / 1_000).toFixed(1)} s`;
  return `${Math.round(duration / 60_000)} min`;
}

/** The slowest step. */
function absorbed({ absorbedMs }: Summary): string {
  if (absorbedMs.length === 0) return "–";
  return absorbedMs.includes(null) ? "never" : time(Math.max(...(absorbedMs as number[])));
}

const dollars = (amount: number) => amount.toFixed(2);

/** A run, and what tells it apart from others. */
interface Row {
  readonly label: readonly string[];
  readonly of: Summary;
}

export function figures(rows: readonly Row[], head: string[]): string {
  const cells = rows.map(({ label, of }): Cell[] => [
    ...label,
    Math.round(of.perSecond).toLocaleString("en"),
    `${(100 * of.acknowledged).toFixed(1)} %`,
    time(of.ackMs.p50),
    time(of.ackMs.p95),
    time(of.ackMs.p99),
    absorbed(of),
    of.provisioned > 0 ? of.provisioned.toFixed(2) : "–",
    of.mostShards > 0 ? of.mostShards : "–",
    time(of.staleMs.p50),
    time(of.staleMs.p95),
    time(of.staleMs.max),
    of.publishesPerSecond.toFixed(2),
    `${Math.round(of.grown)}/${Math.round(of.shrunk)}`,
    of.turnsPerHour.toFixed(1),
    dollars(of.dollars),
  ]);
  const columns = [
    "offered/s",
    "acked",
    "p50",
    "p95",
    "p99",
    "absorbed in",
    "shards/need",
    "most",
    "stale p50",
    "p95",
    "max",
  ];
  const titles = [...head, ...columns, "publishes/s", "grew/shrank", "turns/h", "$/million"];
  return table(cells, [...head.map(() => "left" as const), ...Array(15).fill("right")], titles);
}

/** Dollars per million increments, item by item. */
export function costs(rows: readonly Row[], head: string[]): string {
  const cells = rows.map(({ label, of }): Cell[] => [
    ...label,
    ...ITEMS.map((item) => dollars(of.cost[item])),
    dollars(of.dollars),
  ]);
  return table(
    cells,
    [...head.map(() => "left" as const), ...[...ITEMS, "all"].map(() => "right" as const)],
    [...head, ...ITEMS, "all"],
  );
}

/** Where the money goes, by how often counters are incremented. */
export function popularity(classes: readonly Popularity[]): string {
  const all = classes.reduce((sum, one) => sum + one.dollars, 0);
  const cells = classes.map((one, i): Cell[] => {
    const next = classes[i + 1]?.from;
    const range =
      next === undefined
        ? `${one.from.toLocaleString("en")} and more`
        : next - one.from === 1
          ? `${one.from}`
          : `${one.from.toLocaleString("en")} to ${(next - 1).toLocaleString("en")}`;
    const million = 1e6 / one.increments;
    return [
      range,
      one.counters.toLocaleString("en"),
      one.increments.toLocaleString("en"),
      ...ITEMS.map((item) => dollars(one.cost[item] * million)),
      dollars(one.dollars * million),
      `${((100 * one.dollars) / all).toFixed(0)} %`,
    ];
  });
  const head = ["increments each", "counters", "increments", ...ITEMS, "all", "of the bill"];
  return table(cells, ["left", ...head.slice(1).map(() => "right" as const)], head);
}
