/** The groups of counters that need a publish for each total, by what a deployment has set: the list of `needsFunctions` in the rules. */
import { groupOf } from "../../../core/src/index.ts";
import type { Config } from "./config.ts";
import type { Groups } from "./groups.ts";

type Chosen = Pick<Config, "direct" | "regions" | "mirrors" | "windowGroups" | "historyGroups">;

/** Counters without a group that have a mirror of their own are left out: clients create their documents, and the functions close them. */
export function groupsThatNeedPublishes({ direct, regions, mirrors, windowGroups, historyGroups }: Chosen): Groups {
  if (!direct || regions || windowGroups === "all" || historyGroups === "all") return "all";
  const mirrored = mirrors.map(({ counters }) => groupOf(counters)).filter((group) => group !== "");
  return [...new Set([...windowGroups, ...historyGroups, ...mirrored])];
}
