/** `top`: the counters of a group with the largest totals or rates. Cost: 1 read per counter shown. */
import { topCounters } from "../../admin/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { formatDuration, formatNumber } from "./format.ts";
import { paint, print, printJson } from "./output.ts";
import { table } from "./table.ts";

export interface TopCommandOptions {
  readonly by: "total" | "rate";
  readonly limit: number;
}

export async function top(
  { firestore, target, json }: CommandContext,
  options: TopCommandOptions,
  group: string,
): Promise<void> {
  const { by, limit } = options;
  const counters = await topCounters(firestore, group, { by, limit, collection: target.collection });
  if (json) {
    return printJson({
      ...target,
      group,
      by,
      counters: counters.map(({ id, total, rate, shardCount, asOf }) => ({
        id,
        total,
        rate,
        shardCount,
        asOf: asOf?.toDate().toISOString(),
      })),
    });
  }
  print(paint("dim", describeTarget(target)));
  if (counters.length === 0) return print(`No counter of the group "${escapeControls(group)}" has a published total.`);
  const now = Date.now();
  const rows = counters.map(({ id, total, rate, asOf }, i) => [
    i + 1,
    escapeControls(id),
    by === "total" ? paint("bold", formatNumber(total)) : formatNumber(total),
    by === "rate" ? paint("bold", formatNumber(rate)) : formatNumber(rate),
    asOf ? `${formatDuration(now - asOf.toMillis())} ago` : "",
  ]);
  print(table(rows, ["right", "left", "right", "right", "right"], ["", "counter", "total", "writes/s", "as of"]));
}
