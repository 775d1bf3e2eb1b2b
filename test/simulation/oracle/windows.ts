/**
 * Windows (I11): each publish adds to the windows what was incremented since the one before, and windows that are over begin
 * again. Resets, creations, corrections and what Google's functions have counted are no increments.
 */
import { eachWindow } from "../../../core/src/index.ts";
import type { Settings } from "../../../functions/src/shared/feature.ts";
import { isIn } from "../../../functions/src/shared/groups.ts";
import type { Version } from "../model/database.ts";
import { type Fields, type Micros, microsOf } from "../model/values.ts";
import { OFFSETS } from "../scenario/scenario.ts";
import type { Fail } from "./violation.ts";

const MINUTE: Micros = 60_000_000;
const DAY: Micros = 1_440 * MINUTE;

interface CounterState {
  /** The sum of the increments after each commit that had some, oldest first. */
  readonly sums: { readonly time: Micros; readonly sum: number }[];
  /** The sum that the last publish has counted. */
  counted: number;
}

export class WindowCheck {
  readonly #config: Pick<Settings, "windows">;
  readonly #fail: Fail;
  readonly #counters = new Map<string, CounterState>();

  constructor(config: Pick<Settings, "windows">, fail: Fail) {
    this.#config = config;
    this.#fail = fail;
  }

  /** A commit has incremented a counter. */
  incremented(counter: string, time: Micros, by: number): void {
    const { sums } = this.#state(counter);
    sums.push({ time, sum: (sums.at(-1)?.sum ?? 0) + by });
  }

  /** A publish replaced the counter document. */
  checkPublish(counter: string, before: Version, after: Version): void {
    const state = this.#state(counter);
    const asOf = microsOf(after.fields?.asOf);
    const sum = state.sums.findLast(({ time }) => time <= asOf)?.sum ?? 0;
    // What is in a counter made by hand before its first publish may be years old.
    const isImport = before.fields?.num_shards !== undefined && before.fields.asOf === undefined;
    const by = isImport ? 0 : sum - state.counted;
    state.counted = sum;
    if (!isIn(this.#config.windows.groups, counter)) {
      if (after.fields?.windows) this.#fail("I11", `${counter} has windows, which its group has not chosen`);
      return;
    }
    const windows = (after.fields?.windows ?? {}) as Fields;
    const expected = this.#expected((before.fields?.windows ?? {}) as Fields, by, asOf);
    for (const [name, wanted] of Object.entries(expected)) {
      const found = partsOf(windows[name]);
      if (found.until !== wanted.until || found.total !== wanted.total)
        this.#fail("I11", `${counter} publishes ${text(found)} of the ${name}; ${by} more make it ${text(wanted)}`);
    }
  }

  #expected(before: Fields, by: number, asOf: Micros) {
    const ends = endsAfter(asOf, (OFFSETS[this.#config.windows.timeZone] ?? 0) * MINUTE);
    const next = (name: keyof typeof ends) => {
      const { until, total } = partsOf(before[name]);
      if (by === 0) return { until, total };
      return { until: ends[name], total: by + (until === ends[name] ? total : 0) };
    };
    return eachWindow(next);
  }

  #state(counter: string): CounterState {
    const state = this.#counters.get(counter) ?? { sums: [], counted: 0 };
    this.#counters.set(counter, state);
    return state;
  }
}

/** The ends of the windows that an instant is in, where clocks are ahead of UTC by `offset` all year. */
function endsAfter(at: Micros, offset: Micros) {
  const day = Math.floor((at + offset) / DAY);
  // The first day since the epoch was a Thursday.
  const week = Math.floor((day + 3) / 7);
  const date = new Date((day * DAY) / 1_000);
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) * 1_000;
  return { day: (day + 1) * DAY - offset, week: ((week + 1) * 7 - 3) * DAY - offset, month: month - offset };
}

function partsOf(count: unknown): { until: Micros; total: number } {
  const { until, total } = (count ?? {}) as Fields;
  return { until: until ? microsOf(until) : 0, total: Number(total ?? 0) };
}

function text({ until, total }: { until: Micros; total: number }): string {
  return `${total} until ${new Date(until / 1_000).toISOString()}`;
}
