/** Charts from a counter's history: `npx firestore-tally init --windows views --history views`. */
import { counter, getCounterHistory } from "firestore-tally";
import { db } from "../setup/firebase.ts";

const HOUR = 3_600_000;

const viewsOf = (page: string) => counter(db, `views:${page}`);

/** For a line: the totals of the last 24 hours, up to now. */
export async function totals(page: string) {
  const to = new Date();
  const from = new Date(to.getTime() - 24 * HOUR);
  const points = await getCounterHistory(viewsOf(page), { from, to, step: "hour" });
  const line = points.map(({ at, total }) => ({ x: at, y: total }));
  const last = line.at(-1);
  return last ? [...line, { x: to, y: last.y }] : [];
}

/** For bars: how many views each of the last 24 hours had. An hour without views has no bar. */
export async function viewsPerHour(page: string) {
  const to = new Date();
  const firstHour = Math.floor(to.getTime() / HOUR) * HOUR - 23 * HOUR;
  // From the beginning: the first bar needs the total before it, which may be days old. A new counter has none.
  const points = await getCounterHistory(viewsOf(page), { from: new Date(0), to, step: "hour" });
  return points
    .map(({ at, total }, i) => ({ at: at.getTime(), views: total - (points[i - 1]?.total ?? 0) }))
    .filter(({ at }) => at >= firstHour)
    .map(({ at, views }) => ({ x: new Date(Math.floor(at / HOUR) * HOUR), y: views }));
}

/** For bars: how many views each of the last 30 days had, by the clock of the deployment's time zone. */
export async function viewsPerDay(page: string) {
  const to = new Date();
  const from = new Date(to.getTime() - 30 * 24 * HOUR);
  const range = { from, to, step: "day" } as const;
  const points = await getCounterHistory(viewsOf(page), range);
  return points.map(({ at, windows }) => ({ x: at, y: windows.day }));
}
