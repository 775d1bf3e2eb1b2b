/** Mistakes in the counts of today, this week and this month. */
import { committing, configuring, type Publish, publishing, publishingNext, withoutField } from "./edits.ts";
import type { Mutation } from "./mutation.ts";

type Windows = NonNullable<Publish["next"]["windows"]>;

/** Changes the windows that are published. @param change  gets those of the last publish, too */
const counting = (change: (windows: Windows, before: Windows | null, asOf: number) => Windows): Mutation => ({
  ...publishingNext((next, { previous }) => {
    const before = previous?.windows ?? null;
    return { ...next, ...(next.windows && { windows: change(next.windows, before, next.asOf) }) };
  }),
  breaks: ["I11"],
});

export const windowMutations: Record<string, Mutation> = {
  "a day goes on after midnight": counting((windows) => ({
    ...windows,
    day: { ...windows.day, until: windows.week.until },
  })),
  "a window that is over is added to": counting((windows, before) => {
    const { day } = windows;
    const isNew = before !== null && before.day.until !== day.until;
    return isNew ? { ...windows, day: { ...day, total: before.day.total + day.total } } : windows;
  }),
  "a counter without increments begins a day": counting((windows, before, asOf) => {
    const { day } = windows;
    const isOver = windows === before && asOf >= day.until;
    return isOver ? { ...windows, day: { until: day.until + 86_400_000, total: 0 } } : windows;
  }),
  "days are those of UTC": {
    ...configuring(({ windows }) => ({ windows: { ...windows, timeZone: "UTC" } })),
    breaks: ["I11"],
  },
  "a measurement is older than the corrections that its publish leaves out": {
    readTime: (at, { collection }, { name }) =>
      name.startsWith("instance") && collection.endsWith("/shards") ? at - 1_000_000 : at,
    breaks: ["I11"],
    seed: 47,
  },
  "a reset counts as increments": {
    ...committing("reset", ({ data = {} }) => "adjusted" in data, withoutField("adjusted")),
    breaks: ["I11"],
  },
  "an adjustment is left out of two publishes": { ...publishing(withoutField("adjusted")), breaks: ["I11"] },
};
