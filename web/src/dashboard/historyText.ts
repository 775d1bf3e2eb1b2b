/** A counter's history in words: sums and comparisons that are exact, and what is not known. */
import { formatTotal } from "../page/format.ts";
import { addedUntil, type Buckets, bucketOfFirstPoint, type KnownHistory } from "./buckets.ts";
import { DAYS, dateOf, timeOf } from "./periods.ts";

const NOTHING = "Nothing was published in this period, or HISTORY does not name its group.";
const BEFORE = "What was added before is not known.";

/** The last week is compared up to the last full hour, because its history has hours. */
export function describeDay(history: KnownHistory, today: Buckets, lastWeek: Buckets): string {
  const [firstPoint] = history.points;
  if (!firstPoint) return NOTHING;
  const { boundaries, current } = today;
  const midnight = timeOf(boundaries[0] ?? 0);
  const sum = addedUntil(today, current + 1);
  const [byThen, weekBefore] = [today, lastWeek].map((day) => addedUntil(day, current));
  const sentences: string[] = [];
  if (sum !== null) sentences.push(`${formatTotal(sum)} ${midnight === "00:00" ? "today" : `since ${midnight}`}.`);
  if (current > 0 && typeof byThen === "number" && typeof weekBefore === "number") {
    const time = timeOf(boundaries[current] ?? 0);
    sentences.push(`By ${time}: ${formatTotal(byThen)}, and ${formatTotal(weekBefore)} by then a week ago.`);
  }
  const first = bucketOfFirstPoint(history, today);
  if (first === undefined) {
    if (weekBefore === null) sentences.push("The same day last week is not known.");
    return sentences.join(" ");
  }
  sentences.push(beginningOf(history, `at ${timeOf(+firstPoint.at)}`));
  if (sum === null) sentences.push(BEFORE);
  else if (first > 0)
    sentences.push(`The column at ${timeOf(boundaries[first] ?? 0)} holds all that was added since ${midnight}.`);
  return sentences.join(" ");
}

export function describeMonth(history: KnownHistory, days: Buckets): string {
  const [firstPoint] = history.points;
  if (!firstPoint) return NOTHING;
  const { boundaries, current, added } = days;
  const sum = added.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  const highest = highestOf(added);
  const first = bucketOfFirstPoint(history, days);
  const sentences: string[] = [];
  if (highest !== undefined) {
    const from = added.findIndex((one) => one !== null);
    const since =
      from === 0 ? `in ${DAYS} days` : from === current ? "today" : `since ${dateOf(boundaries[from] ?? 0)}`;
    sentences.push(`${formatTotal(sum)} ${since}.`);
    const most = added[highest] ?? 0;
    if (most > 0 && from < current)
      sentences.push(`Most on ${dateOf(boundaries[highest] ?? 0)}: ${formatTotal(most)}.`);
  }
  if (first !== undefined) {
    sentences.push(beginningOf(history, `on ${dateOf(+firstPoint.at)}`));
    if (added[first] === null) sentences.push(BEFORE);
  }
  return sentences.join(" ");
}

/** What the columns show, for readers who do not see them. */
export function describeColumns(
  { boundaries, current, added }: Buckets,
  nameOf: (at: number) => string,
  period: string,
): string {
  const highest = highestOf(added);
  if (highest === undefined) return `${period}: not known.`;
  const named = (i: number) => `${formatTotal(added[i] ?? 0)} (${nameOf(boundaries[i] ?? 0)})`;
  return `${period}: highest ${named(highest)}, latest ${named(current)}.`;
}

/** What a line shows: its first, last and highest value. */
export function describeLine(name: string, values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return `${name}: not known.`;
  const most = Math.max(...known);
  return `${name}: from ${formatTotal(first)} to ${formatTotal(last)}, at most ${formatTotal(most)}.`;
}

function highestOf(added: readonly (number | null)[]): number | undefined {
  const known = added.filter((one) => one !== null);
  return known.length === 0 ? undefined : added.indexOf(Math.max(...known));
}

function beginningOf({ points: [first], hasStoredHistory }: KnownHistory, when: string): string {
  const total = formatTotal(first?.total ?? 0);
  if (hasStoredHistory) return `History begins ${when} with ${total}.`;
  return `Only the total ${when} is known, ${total}. More follow if HISTORY names this group.`;
}
