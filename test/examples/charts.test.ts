import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

const HOUR = 3_600_000;

/** One view at each of these times ago, in hours. @returns when each was */
async function viewsAgo(page: string, hours: readonly number[]): Promise<Date[]> {
  const { db, server, total } = await projectWithFunctions();
  const times: Date[] = [];
  for (const ago of hours) {
    await incrementCounter(counter(db, `views:${page}`));
    expect(await total(`views:${page}`)).toBe(times.length + 1);
    // As if it had been published then.
    const ref = server.doc(`counters/views:${page}`);
    const { seconds } = (await ref.get()).get("asOf");
    times.push(new Date((seconds - ago * 3_600) * 1_000));
    await ref.update({ asOf: times.at(-1) });
  }
  return times;
}

const hourOf = (time: Date) => new Date(Math.floor(+time / HOUR) * HOUR);

test("the line has each total, and the bars begin with a new counter's first view", async () => {
  const times = await viewsAgo("new", [5, 2, 0]);
  const { totals, viewsPerHour } = await import("../../examples/charts/charts.ts");
  expect(await totals("never")).toEqual([]);
  expect(await viewsPerHour("never")).toEqual([]);
  // Level since the last view.
  const now = { x: expect.any(Date), y: 3 };
  expect(await totals("new")).toEqual([...times.map((x, n) => ({ x, y: n + 1 })), now]);
  expect(await viewsPerHour("new")).toEqual(times.map((time) => ({ x: hourOf(time), y: 1 })));
});

test("the first bar of an older counter leaves out what was counted days before", async () => {
  const times = await viewsAgo("old", [100, 2]);
  const { viewsPerHour } = await import("../../examples/charts/charts.ts");
  expect(await viewsPerHour("old")).toEqual([{ x: hourOf(times[1] as Date), y: 1 }]);
});

test("the bars of days have what was counted on each", async () => {
  const { db, server, total } = await projectWithFunctions();
  const { viewsPerDay } = await import("../../examples/charts/charts.ts");
  const ref = server.doc("counters/views:daily");
  const countViews = async (n: number, sum: number) => {
    for (let view = 0; view < n; view++) await incrementCounter(counter(db, "views:daily"));
    expect(await total("views:daily")).toBe(sum);
  };
  await countViews(2, 2);
  // As if that had been two days ago.
  const { asOf, windows } = (await ref.get()).data() ?? {};
  const ago = (time: { seconds: number }) => new Date((time.seconds - 48 * 3_600) * 1_000);
  await ref.update({ asOf: ago(asOf), "windows.day.until": ago(windows.day.until) });
  await countViews(3, 5);
  expect(await viewsPerDay("daily")).toMatchObject([{ x: ago(asOf), y: 2 }, { y: 3 }]);
});
