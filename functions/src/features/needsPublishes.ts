/** The groups of counters that need a publish for each total, by what a deployment has set: the list of `needsFunctions` in the rules. */
import { groupOf } from "../../../core/src/index.ts";
import { groupsOfList } from "../http/counterList.ts";
import type { Config } from "./config.ts";
import type { Groups } from "./groups.ts";

type Chosen = Pick<Config, "direct" | "regions" | "mirrors" | "windowGroups" | "historyGroups" | "servedCounters">;

/**
 * Counters without a group that have a mirror of their own, or are served by HTTP, are left out: clients create their documents, and the
 * functions close them.
 */
export function groupsThatNeedPublishes(config: Chosen): Groups {
  const { direct, regions, mirrors, windowGroups, historyGroups, servedCounters } = config;
  const served = groupsOfList(servedCounters);
  if (!direct || regions || windowGroups === "all" || historyGroups === "all" || served === "all") return "all";
  const named = [...mirrors.map(({ counters }) => groupOf(counters)), ...served].filter((group) => group !== "");
  return [...new Set([...windowGroups, ...historyGroups, ...named])];
}
