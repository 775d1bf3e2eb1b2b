/** The tables of freshness and of the crowd, in Markdown: they go into reports as they are. */

import { type Millis, percentilesOf } from "../testkit/statistics.ts";
import type { CrowdTrial, Spread } from "./crowd.ts";
import { table } from "./documents/fill.ts";
import type { Freshness } from "./freshness.ts";

export function freshnessTable(all: readonly Freshness[]): string {
  return table(
    ["increments/s", "increments", "mean", "p50", "p95", "max", "exact", "publishes", "shards"],
    0,
    all.map(({ perSecond, increments, delays, exact, publishes, shards }) => {
      const { p50, p95 } = percentilesOf(delays);
      const mean = delays.reduce((sum, one) => sum + one, 0) / delays.length;
      const millis = [mean, p50, p95, Math.max(...delays)].map(whole);
      return [`${perSecond}`, `${increments}`, ...millis, exact ? "yes" : "NO", `${publishes}`, `${shards}`];
    }),
  );
}

/** A row for each, and after each pair what Tally takes in multiples of the floor. */
export function crowdTable(all: readonly CrowdTrial[]): string {
  const rows = all.flatMap((trial, n) => {
    const tally = all[n - 1];
    return trial.who === "floor" && tally ? [crowdRow(trial), ratio(tally, trial)] : [crowdRow(trial)];
  });
  return table(
    [
      ...["", "offered", "acknowledged", "counted", "twice", "last ack.", "ack. p50", "ack. p95"],
      ...["shards at 8 s", "at the end", "errors", "lateness p95"],
    ],
    1,
    rows,
  );
}

function crowdRow(trial: CrowdTrial): string[] {
  const { offered, acknowledged, counted, lastAcknowledged, acknowledgement, errors, lateness } = trial;
  const { packaging, governed } = trial.crowd;
  return [
    [trial.who, packaging, ...(governed ? ["governed"] : [])].join(", "),
    ...[offered, acknowledged, counted, Math.max(counted - acknowledged, 0)].map(String),
    ...[lastAcknowledged, acknowledgement.p50, acknowledgement.p95].map(seconds),
    ...[trial.early, trial.end].map((spread) => shards(trial, spread)),
    `${Object.values(errors).reduce((sum, one) => sum + one, 0)}`,
    seconds(lateness.p95),
  ];
}

function shards({ who }: CrowdTrial, { shardCount, documents }: Spread): string {
  return who === "tally" ? `${shardCount} / ${documents}` : `${documents}`;
}

function ratio(tally: CrowdTrial, floor: CrowdTrial): string[] {
  const last = tally.lastAcknowledged / floor.lastAcknowledged;
  const p50 = tally.acknowledgement.p50 / floor.acknowledgement.p50;
  return ["tally / floor", "", "", "", "", last.toFixed(1), p50.toFixed(1), "", "", "", "", ""];
}

function whole(value: Millis): string {
  return Number.isFinite(value) ? value.toFixed(0) : "∞";
}

function seconds(value: Millis): string {
  return Number.isFinite(value) ? (value / 1_000).toFixed(2) : "∞";
}
