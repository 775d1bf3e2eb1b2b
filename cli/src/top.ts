/** `top`: the counters of a group with the largest totals or rates. Cost: 1 read per counter shown. */
import { topCounters } from "../../admin/src/list.ts";
import { paint, print, printJson, shown, table } from "./screen.ts";
import type { Session } from "./session.ts";
import { nameOf } from "./target.ts";
import { duration, inWords } from "./words.ts";

export interface TopCommandOptions {
  readonly by: "total" | "rate";
  readonly limit: number;
}

export async function top(
  { firestore, target, json }: Session,
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
  print(paint("dim", nameOf(target)));
  if (counters.length === 0) return print(`No counter of the group "${shown(group)}" has a published total.`);
  const now = Date.now();
  const rows = counters.map(({ id, total, rate, asOf }, i) => [
    i + 1,
    shown(id),
    by === "total" ? paint("bold", inWords(total)) : inWords(total),
    by === "rate" ? paint("bold", inWords(rate)) : inWords(rate),
    asOf ? `${duration(now - asOf.toMillis())} ago` : "",
  ]);
  print(table(rows, ["right", "left", "right", "right", "right"], ["", "counter", "total", "writes/s", "as of"]));
}
