/** `top`: the leaderboard of a group, by total, rate or window. Cost: at most `--limit` reads. */
import { type CounterWindowName, getTopCounters } from "../../admin/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { formatDuration, formatNumber } from "./format.ts";
import { paint, print, printJson, printText } from "./output.ts";
import { table } from "./table.ts";

export interface TopCommandOptions {
  readonly orderBy: "total" | "rate";
  readonly window?: CounterWindowName;
  readonly limit: number;
}

export async function top(
  { firestore, target, json }: CommandContext,
  options: TopCommandOptions,
  group: string,
): Promise<void> {
  const { orderBy, window, limit } = options;
  const counters = await getTopCounters(firestore, group, { orderBy, window, limit, collection: target.collection });
  if (json) {
    return printJson({
      ...target,
      group,
      ...(window ? { window } : { orderBy }),
      counters: counters.map(({ id, total, rate, shardCount, asOf, windows }) => ({
        id,
        total,
        windows,
        rate,
        shardCount,
        asOf: asOf?.toDate().toISOString(),
      })),
    });
  }
  printText(paint("dim", describeTarget(target)));
  if (counters.length === 0) {
    const has = window ? `has counted ${nameOf(window)}` : "has a total";
    const why = window ? " Only the groups of the parameter WINDOWS have that." : "";
    return printText(`No counter of the group "${escapeControls(group)}" ${has}.${why}`);
  }
  const now = Date.now();
  const ranked = window ?? orderBy;
  const cell = (name: string, value: number) =>
    name === ranked ? paint("bold", formatNumber(value)) : formatNumber(value);
  const rows = counters.map(({ id, total, rate, asOf, windows }, i) => [
    i + 1,
    escapeControls(id),
    ...(window ? [cell(window, windows[window])] : []),
    cell("total", total),
    cell("rate", rate),
    asOf ? `${formatDuration(now - asOf.toMillis())} ago` : "–",
  ]);
  const columns = [...(window ? [nameOf(window)] : []), "total", "writes/s", "as of"];
  print(table(rows, ["right", "id", ...columns.map(() => "right" as const)], ["", "counter", ...columns]));
}

function nameOf(window: CounterWindowName): string {
  return window === "day" ? "today" : `this ${window}`;
}
