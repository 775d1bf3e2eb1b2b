/** What features need to know of a deployment besides the core's configuration. `deploy/config.ts` has the defaults and the validation. */
import type { CountedCollection, Mirror } from "../../../core/src/index.ts";
import type { Millis } from "../counter/time.ts";
import type { CounterConfig } from "../counter/types.ts";
import type { CounterList } from "../http/counterList.ts";
import type { Groups } from "./groups.ts";
import type { Regions } from "./regions/config.ts";

/** The parameters of deploy/parameters.ts, parsed. */
export interface Config extends CounterConfig {
  /** The path of the counted collections, if any. */
  readonly counted: CountedCollection | undefined;
  /** Of `MIRRORS` and `BRIDGE`. */
  readonly mirrors: readonly Mirror[];
  /** Whether updates of all shards trigger, for counters that clients of other code write. */
  readonly adopted: boolean;
  /** What counts visitors: nothing, clients, or requests to ingest, too. */
  readonly visitors: "no" | "yes" | "ingest";
  /** Whether the most frequent items are found. */
  readonly items: boolean;
  /** The counters with totals of today, this week and this month. */
  readonly windowGroups: Groups;
  /** The counters whose past totals are kept. */
  readonly historyGroups: Groups;
  /** The counters whose totals anyone may read by HTTP. */
  readonly servedCounters: CounterList;
  /** How long past totals are kept. */
  readonly historyRetention: Millis;
  /** The IANA name of the time zone in which the days of windows begin. */
  readonly timeZone: string;
  /** The databases that count the same counters, if there are several. */
  readonly regions: Regions | undefined;
  /** The least time between two exchanges of a counter with the other regions. */
  readonly exchangeInterval: Millis;
}
