/**
 * What `watch` says of a counter at an instant: its total, how old that is, and whether something is wrong. Pure.
 *
 * A total is late if the functions have scheduled a measurement and have not made it. Its age tells nothing: no write, no publish. While
 * clients may write the counter document (`open`), the total in it is theirs, and no measurement is scheduled.
 */
import { type CounterWindows, windowTotals } from "../../core/src/index.ts";
import { formatDuration, formatNumber, pluralize } from "./format.ts";

/** The counter document. Times are milliseconds since the epoch. */
export interface WatchedCounter {
  /** `null` without a total. */
  readonly total: number | null;
  /** `null` without other regions. */
  readonly globalTotal: number | null;
  /** Of all regions, if there are others; `null` without windows. */
  readonly windows: CounterWindows<{ readonly seconds: number }> | null;
  readonly rate: number;
  readonly shardCount: number;
  readonly isOpen: boolean;
  readonly asOf: number | null;
  /** When the document was written last. */
  readonly changedAt: number;
  readonly nextPollAt: number | null;
}

/** `overdue`: the functions are late. `unanswered`: nothing is known, because Firestore does not answer. */
export interface Problem {
  readonly kind: "overdue" | "unanswered";
  readonly millis: number;
}

/** A task may start late, and its publish takes time. */
const OVERDUE_MS = 5_000;

/** Longer than an answer takes on a slow connection. */
const UNANSWERED_MS = 5_000;

/** After this long without news, Firestore is asked whether it is there. */
const SILENCE_MS = 30_000;

/** @param waited  for how long an answer is awaited */
export function problemOf(watched: WatchedCounter | null, waited: number, now: number): Problem | null {
  if (waited > UNANSWERED_MS) return { kind: "unanswered", millis: waited };
  if (!watched || watched.nextPollAt === null) return null;
  const millis = now - watched.nextPollAt;
  return millis > OVERDUE_MS ? { kind: "overdue", millis } : null;
}

export function isSilent(millis: number): boolean {
  return millis > SILENCE_MS;
}

/** What is wrong, and what to do. */
export function describeProblem({ kind, millis }: Problem): string {
  return kind === "overdue"
    ? `a measurement is overdue by ${formatDuration(millis)}; run \`npx firestore-tally doctor\``
    : `no answer from Firestore for ${formatDuration(millis)}; check the connection`;
}

/** The parts of the line, the total first. */
export function partsOf(watched: WatchedCounter | null, now: number): string[] {
  if (!watched) return ["waiting for Firestore"];
  const { total, globalTotal, windows, rate, shardCount, isOpen, asOf, changedAt } = watched;
  if (total === null) return ["no total yet; waiting for the first increment"];
  const own = formatNumber(total);
  return [
    ...(globalTotal === null ? [own] : [`${formatNumber(globalTotal)} in all regions`, `${own} here`]),
    ...(windows ? [`${formatNumber(windowTotals(windows, now).day)} today`] : []),
    ...(isOpen ? [] : [`${formatNumber(rate)} writes/s`]),
    pluralize(shardCount, "shard"),
    `${formatDuration(now - (isOpen || asOf === null ? changedAt : asOf))} ago`,
  ];
}

/** A line of `--json`. */
export function toJson(id: string, watched: WatchedCounter | null, problem: Problem | null, now: number): object {
  const iso = (millis: number | null = null) => (millis === null ? null : new Date(millis).toISOString());
  return {
    at: iso(now),
    id,
    total: watched?.total ?? null,
    globalTotal: watched?.globalTotal ?? null,
    windows: watched?.windows ? windowTotals(watched.windows, now) : null,
    rate: watched?.rate ?? null,
    shardCount: watched?.shardCount ?? null,
    open: watched?.isOpen ?? null,
    asOf: iso(watched?.asOf),
    nextPollAt: iso(watched?.nextPollAt),
    problem: problem?.kind ?? null,
  };
}
