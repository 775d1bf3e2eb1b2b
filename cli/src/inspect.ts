/** `inspect`: everything about one counter, on one screen. Cost: 1 read per shard, 1 per 1,000 documents of a
 * counted collection, and a few more; it prints how many. */

import type { CounterRef } from "../../admin/src/index.ts";
import { counterDoc } from "../../admin/src/internal.ts";
import {
  CORRECTIONS,
  DIRECT_SLOTS,
  type DirectFields,
  SHARDS,
  WINDOW_NAMES,
  WINDOW_TITLES,
  windowTotals,
} from "../../core/src/index.ts";
import { sumOfListed } from "../../firestore/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, FAILED } from "./commandError.ts";
import {
  type CounterReading,
  type CounterReport,
  type DirectReport,
  isoOf,
  type PublishedReport,
  reportOf,
  type VisitorsReport,
} from "./counterReport.ts";
import { type DatabaseTarget, describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { formatDuration, formatNumber, formatSigned, pluralize } from "./format.ts";
import { paint, print, printJson, printText } from "./output.ts";
import { type Cell, table } from "./table.ts";
import { clamp, columnsOf } from "./wrap.ts";

/** Columns of the id of a malformed shard. */
const LISTED_ID = 24;

export async function inspect(context: CommandContext, _: unknown, id: string): Promise<void> {
  const reading = await readAll(context.ref(id));
  const { measurement, published, source, visitors } = reading;
  if (!published && !source && !visitors && measurement.documents === 0) {
    throw new CommandError(
      FAILED,
      `"${escapeControls(id)}" has no total and no shards in the ${describeTarget(context.target)}; check the id, and --database and --collection`,
    );
  }
  const report = reportOf(reading);
  if (context.json) printJson({ ...context.target, ...report });
  else printReport(report, context.target);
}

async function readAll(ref: CounterRef): Promise<CounterReading> {
  const document = counterDoc(ref);
  const part = (name: string) => document.collection(name);
  // Read first, so that the measurement includes everything that the published total does.
  const counter = await document.get();
  const published = publishedOf(counter);
  const counted = published?.countedCollection;
  const [measurement, documents, entries, corrections] = await Promise.all([
    part(SHARDS).select("count", "writes").get().then(sumOfListed),
    counted ? document.firestore.collection(counted).count().get() : null,
    part("tallyEntries").count().get(),
    part(CORRECTIONS).orderBy("at", "desc").limit(1).get(),
  ]);
  const latest = corrections.docs[0]?.data();
  const due = counter.get("nextReconcileAt");
  return {
    id: ref.id,
    published,
    direct: directOf(counter),
    measurement,
    countedDocuments: documents?.data().count ?? null,
    entries: entries.data().count,
    visitors: visitorsOf(counter),
    source: counter.get("source") ?? null,
    nextReconcileAt: due ? isoOf(due) : null,
    latestCorrection: latest
      ? { by: latest.by, expected: latest.expected, found: latest.found, at: isoOf(latest.at) }
      : null,
  };
}

function visitorsOf(counter: FirebaseFirestore.DocumentSnapshot): VisitorsReport | null {
  const { uniques, uniquesAsOf } = counter.data() ?? {};
  return uniquesAsOf ? { uniques, asOf: isoOf(uniquesAsOf) } : null;
}

function publishedOf(counter: FirebaseFirestore.DocumentSnapshot): PublishedReport | null {
  const { asOf, calmSince, slowSince, countedCollection, total, rate, writes, shardCount, phase, nextPollAt } =
    counter.data() ?? {};
  // Clients create documents with a total, which the functions may never publish.
  if (!asOf && !directOf(counter)) return null;
  return {
    total,
    asOf: asOf ? isoOf(asOf) : null,
    rate: rate ?? 0,
    writes: writes ?? 0,
    shardCount: shardCount ?? 1,
    phase: phase ?? "idle",
    nextPollAt: nextPollAt ? isoOf(nextPollAt) : null,
    calmSince: calmSince ? isoOf(calmSince) : null,
    slowSince: slowSince ? isoOf(slowSince) : null,
    countedCollection: countedCollection ?? null,
    windows: windowTotals(counter.get("windows"), counter.readTime.toMillis()),
  };
}

function directOf(counter: FirebaseFirestore.DocumentSnapshot): DirectReport | null {
  const direct: Partial<DirectFields<unknown>> | undefined = counter.get("direct");
  if (!direct) return null;
  const { open = false, generation = 0, count = 0, writes = 0, marks = {} } = direct;
  return { open, generation, marks: marks[generation % DIRECT_SLOTS]?.nonces.length ?? 0, count, writes };
}

function printReport(report: CounterReport, target: DatabaseTarget): void {
  const { id, shards, warnings, reads, exact } = report;
  print(paint("bold", clamp(escapeControls(id), columnsOf(process.stdout))));
  printText(`${paint("dim", describeTarget(target))}\n`);
  print(table(rowsOf(report), ["left", "right", "left"]));
  if (shards.busiest.length > 1) {
    const rows = shards.busiest.map(({ id, count, writes, lastWrite }) => [
      escapeControls(id),
      formatNumber(count),
      formatNumber(writes),
      `${formatDuration(Date.parse(exact.asOf) - Date.parse(lastWrite))} ago`,
    ]);
    print(`\n${table(rows, ["id", "right", "right", "right"], ["busiest shards", "count", "writes", "last write"])}`);
  }
  if (warnings.length > 0) printText(`\n${warnings.map((warning) => paint("yellow", `! ${warning}`)).join("\n")}`);
  print(`\n${paint("dim", `Cost: ${pluralize(reads, "read")}.`)}`);
}

function rowsOf(report: CounterReport): Cell[][] {
  const { published, direct, exact, difference, ageMillis, shards, entries, visitors, latestCorrection } = report;
  const now = Date.parse(exact.asOf);
  const rows: Cell[][] = [];
  const add = (name: string, value: Cell, remark: string) => rows.push([paint("dim", name), value, remark]);
  const isPublished = published !== null && ageMillis !== null;
  if (isPublished) add("published", paint("bold", formatNumber(published.total)), `${formatDuration(ageMillis)} ago`);
  else if (published) add("total", paint("bold", formatNumber(published.total)), "direct increments; no publish yet");
  else add("published", "–", "no total was published yet");
  const compared = difference === 0 ? "now, the same" : `now, ${formatSigned(difference)}`;
  add("exact", paint("bold", formatNumber(exact.total)), compared);
  if (published?.countedCollection) add("counts", "", escapeControls(published.countedCollection));
  if (isPublished) {
    const [first, ...longer] = WINDOW_NAMES;
    const remark = longer
      .map((name) => `${formatNumber(published.windows[name])} ${WINDOW_TITLES[name].toLowerCase()}`)
      .join(", ");
    add(WINDOW_TITLES[first].toLowerCase(), formatNumber(published.windows[first]), remark);
  }
  if (direct) add("direct", formatNumber(direct.count), directRemark(direct));
  if (isPublished) add("writes", formatNumber(published.writes), `${formatNumber(published.rate)} per second recently`);
  add("shards", isPublished ? published.shardCount : "–", shardRemark(report));
  if (entries > 0) add("entries", formatNumber(entries), "increments with once");
  if (visitors) {
    add("visitors", formatNumber(visitors.uniques), `${formatDuration(now - Date.parse(visitors.asOf))} ago`);
  }
  if (shards.malformed.length > 0) {
    const ids = shards.malformed.slice(0, 5).map((id) => clamp(escapeControls(id), LISTED_ID));
    add(
      "malformed",
      shards.malformed.length,
      paint("yellow", `${ids.length === 1 ? "shard" : "shards"} ${ids.join(", ")}`),
    );
  }
  if (published?.slowSince) {
    const ago = formatDuration(now - Date.parse(published.slowSince));
    add("slow sum", "", paint("yellow", `over five seconds, ${ago} ago; the shards are listed for ten minutes`));
  }
  if (isPublished) add("phase", published.phase, phaseRemark(published, now));
  if (report.source) add("source", "", sourceRemark(report));
  if (latestCorrection) {
    const { by, at } = latestCorrection;
    add("corrected", formatSigned(by), `${formatDuration(now - Date.parse(at))} ago, the latest correction`);
  }
  return rows;
}

function directRemark({ open, generation, marks, writes }: DirectReport): string {
  const state = open ? `open, ${pluralize(marks, "mark")} in generation ${generation}` : "closed";
  return `${pluralize(writes, "write")} of the document; ${state}`;
}

function shardRemark({ shards: { documents, surplus } }: CounterReport): string {
  const extra = surplus > 0 ? `, ${surplus} of them to be folded` : "";
  return `in use, ${pluralize(documents, "document")}${extra}`;
}

function phaseRemark({ nextPollAt, calmSince }: PublishedReport, now: number): string {
  const left = nextPollAt ? Date.parse(nextPollAt) - now : undefined;
  const remarks = [
    left === undefined
      ? "the next write triggers a measurement"
      : left >= 0
        ? `next measurement in ${formatDuration(left)}`
        : `next measurement overdue by ${formatDuration(-left)}`,
    ...(calmSince ? [`calm for ${formatDuration(now - Date.parse(calmSince))}`] : []),
  ];
  return remarks.join(", ");
}

function sourceRemark({ source, nextReconcileAt }: CounterReport): string {
  return `${escapeControls(JSON.stringify(source))}${nextReconcileAt ? `, next compared ${nextReconcileAt}` : ""}`;
}
