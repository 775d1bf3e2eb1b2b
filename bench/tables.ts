/** The tables of each part of the benchmark, by their titles. */
import { formatDollars, formatWhole } from "../cli/src/format.ts";
import { HOSTING_GIGABYTE, listenersPerDay, totalsPerDay } from "../costs/src/index.ts";
import { type Percentiles, percentile } from "../testkit/statistics.ts";
import type { ApproachName } from "./approaches.ts";
import type { LoadResult } from "./contest.ts";
import type { CrowdResult } from "./crowd.ts";
import { fixed, seconds, table, tableOf } from "./markdown.ts";
import type { Part, Results } from "./results.ts";

export const TITLES: Readonly<Record<ApproachName, string>> = {
  single: "one document",
  recipe: "10 fixed shards",
  tally: "Tally",
};

/** `1 to 1,000/s` */
function loadTitle(load: string): string {
  return load.replace(/\d{4,}/g, (number) => formatWhole(Number(number)));
}

const yes = (isSo: boolean) => (isSo ? "yes" : "**no**");

type Columns = Readonly<Record<string, (result: LoadResult) => string | number>>;

/** One row for each load and approach. The load is named once. */
function loadTable(results: readonly LoadResult[], columns: Columns): string {
  const isRepeated = (result: LoadResult) => results[results.indexOf(result) - 1]?.load === result.load;
  return tableOf(results, 2, {
    offered: (result) => (isRepeated(result) ? "" : loadTitle(result.load)),
    approach: ({ approach }) => TITLES[approach],
    ...columns,
  });
}

function speed(results: readonly LoadResult[]): string {
  return loadTable(results, {
    "accepted/s": ({ acceptedPerSecond }) => fixed(acceptedPerSecond, 1),
    "ack. p50": ({ acknowledgement }) => seconds(acknowledgement.p50, 2),
    p95: ({ acknowledgement }) => seconds(acknowledgement.p95, 2),
    p99: ({ acknowledgement }) => seconds(acknowledgement.p99, 2),
    "recovered in": ({ recovery = Number.NaN }) => seconds(recovery, 2),
    "visible p50": ({ visibility }) => seconds(visibility.p50, 2),
    "visible p95": ({ visibility }) => seconds(visibility.p95, 2),
    "totals/s": ({ totalsPerSecond }) => fixed(totalsPerSecond, 1),
    "reads/s of a watcher": ({ watcherReadsPerSecond }) => fixed(watcherReadsPerSecond, 1),
  });
}

const OUTCOME: Columns = {
  made: ({ offered }) => formatWhole(offered),
  acknowledged: ({ acknowledged }) => formatWhole(acknowledged),
  "in the total": ({ total }) => formatWhole(total),
  "seen by the watcher": ({ visible }) => formatWhole(visible),
  exact: ({ exact }) => yes(exact),
};

const BILL: Columns = {
  documents: ({ documents }) => formatWhole(documents),
  reads: ({ per1000 }) => formatWhole(per1000.read),
  writes: ({ per1000 }) => formatWhole(per1000.write),
  deletes: ({ per1000 }) => formatWhole(per1000.delete),
  invocations: ({ per1000 }) => formatWhole(per1000.invocation),
  tasks: ({ per1000 }) => formatWhole(per1000.task),
  "$ per million": ({ dollarsPerMillion }) => fixed(dollarsPerMillion, 2),
};

function overhead(results: readonly Results["overhead"][]): string {
  return tableOf(results, 1, {
    counter: ({ isWatched }) => (isWatched ? "watched" : "not watched"),
    "Tally, writes/s": ({ tally }) => formatWhole(tally),
    "by hand, writes/s": ({ byHand }) => formatWhole(byHand),
    ratio: ({ ratio }) => fixed(ratio, 2),
  });
}

function coldStarts(results: readonly Results["coldStart"][]): string {
  return tableOf(results, 2, {
    "fresh process of": (one) => `\`${one.function}\``,
    does: ({ does }) => does,
    "Tally, CPU-seconds": ({ tally }) => fixed(tally, 2),
    "by hand, CPU-seconds": ({ byHand }) => fixed(byHand, 2),
    ratio: ({ ratio }) => fixed(ratio, 2),
  });
}

/** Mean and p95 under the same arrivals, on 2026-11-22 on another machine of two cores: of the first edition, and of Google's extension 0.2.15. */
const COMPARED: Readonly<Record<number, readonly [firstEdition: string, extension: string]>> = {
  0.2: ["2,114 / 6,352", "115 / 1,438"],
  0.5: ["1,356 / 5,022", "53 / 211"],
  1: ["2,971 / 8,343", "73 / 183"],
  3: ["2,327 / 7,196", "101 / 608"],
  10: ["1,240 / 3,320", "106 / 653"],
};

function freshness(results: readonly Results["freshness"][]): string {
  return tableOf(results, 0, {
    "increments/s": ({ perSecond }) => perSecond,
    increments: (one) => one.increments,
    "mean / p95, ms": ({ mean, p95 }) => `${formatWhole(mean)} / ${formatWhole(p95)}`,
    "max, ms": ({ max }) => formatWhole(max),
    exact: ({ exact }) => yes(exact),
    shards: ({ shards }) => shards,
    "first edition": ({ perSecond }) => COMPARED[perSecond]?.[0] ?? "",
    "Google's extension": ({ perSecond }) => COMPARED[perSecond]?.[1] ?? "",
  });
}

/** One row for each crowd: medians of its runs, and of the floor under the same crowd. */
function crowds(results: readonly CrowdResult[]): string {
  const runs = Map.groupBy(results, ({ clients, perSecond, isWatching, isGoverned }) =>
    [`${clients} ${isWatching ? "watching " : ""}clients, ${perSecond}/s`, isGoverned ? "yes" : "no"].join("|"),
  );
  const rows = [...runs].map(([name, all]) => {
    const [tally, floor] = (["tally", "floor"] as const).map((target) => all.filter((run) => run.target === target));
    const sum = (field: "offered" | "acknowledged" | "counted") =>
      formatWhole((tally ?? []).reduce((total, run) => total + run[field], 0));
    const median = (some: readonly CrowdResult[] = [], value: (run: CrowdResult) => number) =>
      seconds(percentile(some.map(value), 0.5));
    const times = [tally, floor].flatMap((some) => [
      median(some, (run) => run.lastAcknowledged),
      median(some, (run) => run.acknowledgement.p50),
    ]);
    const fewest = Math.min(...(tally ?? []).map((run) => run.shardsAt8s));
    return [
      ...name.split("|"),
      tally?.length ?? 0,
      sum("offered"),
      sum("acknowledged"),
      sum("counted"),
      ...times,
      fewest,
    ];
  });
  const counts = ["runs", "made", "acknowledged", "counted"];
  const head = ["crowd", "governor", ...counts, "last after", "p50", "floor: last", "floor: p50"];
  return table([...head, "shards at 8 s"], 2, rows);
}

function totals(results: readonly Results["totals"][]): string {
  return tableOf(results, 0, {
    "requests/s": ({ offeredPerSecond }) => formatWhole(offeredPerSecond),
    "answered/s": ({ answeredPerSecond }) => formatWhole(answeredPerSecond),
    "not 200": ({ answers }) =>
      formatWhole(Object.entries(answers).reduce((sum, [status, count]) => sum + (status === "200" ? 0 : count), 0)),
    "answered in, p50 / p95 / p99, ms": ({ answered }) => percentiles(answered),
    "passed on/s": ({ passedOnPerSecond }) => fixed(passedOnPerSecond, 1),
    "reads per counter and second": ({ readsPerCounterAndSecond }) => fixed(readsPerCounterAndSecond, 2),
    "age, p50 / p95 / p99, ms": ({ age }) => percentiles(age),
    "of the busiest": ({ busiestAge }) => percentiles(busiestAge),
    "went back": ({ wentBack, checked }) => `${formatWhole(wentBack)} of ${formatWhole(checked)}`,
    "bytes an answer": ({ bytesPerAnswer }) => formatWhole(bytesPerAnswer),
  });
}

/** Dollars per day, with a total a second and answers as long as they were measured. */
function readers(results: readonly Results["totals"][]): string {
  const answerBytes = results[0]?.bytesPerAnswer ?? 0;
  return tableOf([1_000, 100_000, 10_000_000], 0, {
    "readers at a time": formatWhole,
    listeners: (count) => formatDollars(listenersPerDay({ readers: count, interval: 1 })),
    ...Object.fromEntries(
      [1, 10].map((period) => [
        `totals, asked every ${period} s`,
        (count: number) => formatDollars(totalsPerDay({ readers: count, interval: 1, period, answerBytes })),
      ]),
    ),
  });
}

function percentiles({ p50, p95, p99 }: Percentiles): string {
  return [p50, p95, p99].map(formatWhole).join(" / ");
}

/** By part of the benchmark, then by title. */
export const TABLES: {
  readonly [Name in Exclude<Part, "slow" | "simulation" | "shardSizes">]: (
    results: readonly Results[Name][],
  ) => Readonly<Record<string, string>>;
} = {
  contest: (results) => ({
    "Speed: acknowledgements from when an increment was due; visibility in a watched total from then on":
      speed(results),
    "What became of the increments": loadTable(results, {
      ...OUTCOME,
      "refused commits": ({ refused }) => formatWhole(refused),
    }),
    "Per 1,000 accepted increments, without the watcher": loadTable(results, BILL),
  }),
  costs: (results) => ({
    "Per 1,000 increments, without watchers, in nam5; the write alone is $1.80": tableOf(results, 1, {
      offered: ({ load }) => load,
      ...BILL,
      exact: ({ exact }) => yes(exact),
    }),
  }),
  overhead: (results) => ({ "Tally's client and the same write by hand": overhead(results) }),
  freshness: (results) => ({ "From an acknowledgement to a watched total": freshness(results) }),
  crowd: (results) => ({ "A cold crowd": crowds(results) }),
  coldStart: (results) => ({ "Cold starts of the functions and of a function by hand": coldStarts(results) }),
  totals: (results) => ({
    "Readers behind a cache": totals(results),
    [`Dollars per day for readers of one counter; Hosting at $${HOSTING_GIGABYTE} a gigabyte`]: readers(results),
  }),
};
