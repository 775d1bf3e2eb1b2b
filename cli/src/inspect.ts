/** `inspect`: what there is to say about one counter, on one screen. Cost: 1 read per shard and a few; it says so. */

import { type CounterRef, counterDoc } from "../../admin/src/counter.ts";
import { sumOfListed } from "../../admin/src/sum.ts";
import { CORRECTIONS, SHARDS } from "../../core/src/index.ts";
import { type Findings, type Inspection, inspectionOf, isoOf, type PublishedReport } from "./inspection.ts";
import { type Cell, paint, print, printJson, shown, table } from "./screen.ts";
import type { Session } from "./session.ts";
import { FAILED, Stop } from "./stop.ts";
import { nameOf, type Target } from "./target.ts";
import { duration, inWords, several, signed } from "./words.ts";

export async function inspect(session: Session, _: unknown, id: string): Promise<void> {
  const findings = await read(session.ref(id));
  const { measurement, published, source } = findings;
  if (!published && !source && measurement.documents === 0) {
    throw new Stop(FAILED, `"${shown(id)}" was never counted: no total and no shards in the ${nameOf(session.target)}`);
  }
  const inspection = inspectionOf(findings);
  if (session.json) printJson({ ...session.target, ...inspection });
  else show(inspection, session.target);
}

async function read(ref: CounterRef): Promise<Findings> {
  const document = counterDoc(ref);
  const part = (name: string) => document.collection(name);
  // First, so that what it counts is in the measurement.
  const counter = await document.get();
  const [measurement, entries, corrections] = await Promise.all([
    part(SHARDS).select("count", "writes").get().then(sumOfListed),
    part("entries").count().get(),
    part(CORRECTIONS).orderBy("at", "desc").limit(1).get(),
  ]);
  const latest = corrections.docs[0]?.data();
  const due = counter.get("nextReconcileAt");
  return {
    id: ref.id,
    published: publishedOf(counter),
    measurement,
    entries: entries.data().count,
    source: counter.get("source") ?? null,
    nextReconcileAt: due ? isoOf(due) : null,
    latestCorrection: latest
      ? { by: latest.by, expected: latest.expected, found: latest.found, at: isoOf(latest.at) }
      : null,
  };
}

function publishedOf(counter: FirebaseFirestore.DocumentSnapshot): PublishedReport | null {
  const { asOf, calmSince, total, rate, writes, shardCount, phase, nextPollAt } = counter.data() ?? {};
  if (!asOf) return null;
  return {
    total,
    asOf: isoOf(asOf),
    rate,
    writes,
    shardCount,
    phase: phase ?? "idle",
    nextPollAt: nextPollAt ? isoOf(nextPollAt) : null,
    calmSince: calmSince ? isoOf(calmSince) : null,
  };
}

function show(inspection: Inspection, target: Target): void {
  const { id, shards, warnings, reads, exact } = inspection;
  print(`${paint("bold", shown(id))}\n${paint("dim", nameOf(target))}\n`);
  print(table(facts(inspection), ["left", "right", "left"]));
  if (shards.busiest.length > 1) {
    const rows = shards.busiest.map(({ id, count, writes, lastWrite }) => [
      shown(id),
      inWords(count),
      inWords(writes),
      `${duration(Date.parse(exact.asOf) - Date.parse(lastWrite))} ago`,
    ]);
    print(`\n${table(rows, ["left", "right", "right", "right"], ["busiest shards", "count", "writes", "last write"])}`);
  }
  if (warnings.length > 0) print(`\n${warnings.map((warning) => paint("yellow", `! ${warning}`)).join("\n")}`);
  print(`\n${paint("dim", `This took ${several(reads, "read")}.`)}`);
}

function facts(inspection: Inspection): Cell[][] {
  const { published, exact, difference, ageMillis, shards, entries, latestCorrection } = inspection;
  const now = Date.parse(exact.asOf);
  const rows: Cell[][] = [];
  const add = (name: string, value: Cell, remark: string) => rows.push([paint("dim", name), value, remark]);
  if (published) add("published", paint("bold", inWords(published.total)), `${duration(ageMillis ?? 0)} ago`);
  else add("published", "–", "no total was published yet");
  add("exact", paint("bold", inWords(exact.total)), difference === 0 ? "now, the same" : `now, ${signed(difference)}`);
  if (published) add("writes", inWords(published.writes), `${inWords(published.rate)} per second lately`);
  add("shards", published?.shardCount ?? "–", shardRemark(inspection));
  if (entries > 0) add("entries", inWords(entries), "keyed increments");
  if (shards.malformed.length > 0) {
    add(
      "malformed",
      shards.malformed.length,
      paint("yellow", `shard ${shown(shards.malformed.slice(0, 5).join(", "))}`),
    );
  }
  if (published) add("phase", published.phase, phaseRemark(published, now));
  if (inspection.source) add("source", "", sourceRemark(inspection));
  if (latestCorrection) {
    const { by, at } = latestCorrection;
    add("corrected", signed(by), `${duration(now - Date.parse(at))} ago, the latest`);
  }
  return rows;
}

function shardRemark({ shards: { documents, surplus } }: Inspection): string {
  const extra = surplus > 0 ? `, ${surplus} of them to be folded` : "";
  return `to spread over, ${several(documents, "document")}${extra}`;
}

function phaseRemark({ nextPollAt, calmSince }: PublishedReport, now: number): string {
  const left = nextPollAt ? Date.parse(nextPollAt) - now : undefined;
  const remarks = [
    left === undefined
      ? "the next write is measured at once"
      : left >= 0
        ? `measured again in ${duration(left)}`
        : `to be measured ${duration(-left)} ago`,
    ...(calmSince ? [`calm for ${duration(now - Date.parse(calmSince))}`] : []),
  ];
  return remarks.join(", ");
}

function sourceRemark({ source, nextReconcileAt }: Inspection): string {
  return `${shown(JSON.stringify(source))}${nextReconcileAt ? `, next compared ${nextReconcileAt}` : ""}`;
}
