/** A read counter, for any SDK. */
import type { GlobalCounterFields } from "./regions.ts";
import { type CounterWindows, type CounterWindowTotals, type Seconds, windowTotals } from "./windows.ts";

/** A total. `Timestamp` is the timestamp type of the SDK. */
export interface CounterSnapshotBase<Timestamp> {
  /**
   * The sum of the increments in the counter document, and of those on shards committed at or before `asOf`; 0 for a counter without any.
   * A watch adds this client's later ones.
   */
  readonly total: number;
  /** The instant up to which `total` has the increments on shards; `null` if the functions have published none. */
  readonly asOf: Timestamp | null;
  /**
   * Orders the totals of a counter, wherever they were read: a later one has a larger version. Microseconds of `asOf` since the epoch,
   * plus the number of direct increments. Versions begin again only after a deletion of the counter.
   */
  readonly version: number;
  /**
   * Whether this user has increments of the counter that the server has not acknowledged: calls of this client, or writes in the SDK's
   * queue, such as those of another tab or of the page before a reload. Those may be missing in `total`.
   */
  readonly pending: boolean;
  /** Whether the total is from this device's cache, because the server has not answered yet. */
  readonly fromCache: boolean;
  /** Writes of shards per second, averaged over some seconds. */
  readonly rate: number;
  /** How many shards writers choose from. */
  readonly shardCount: number;
  /** How many different visitors were counted: exact up to 1,536, an estimate beyond; updated about every 10 seconds. */
  readonly uniques: number;
  /**
   * What was counted today, this week and this month when this was read, by the server's time and the deployment's time zone.
   * Increments of this client are in it once they are published. 0 unless the group is in the functions' parameter `WINDOWS`.
   */
  readonly windows: CounterWindowTotals;
  /** The sum of the totals of all regions. Without other regions, `total`. */
  readonly globalTotal: number;
  /** As `windows`, of all regions. */
  readonly globalWindows: CounterWindowTotals;
  /** How many different visitors all regions have counted, as `uniques`. */
  readonly globalUniques: number;
  /** What this region has last heard from each other; `null` if nothing. Empty without other regions. */
  readonly regions: GlobalCounterFields<Timestamp>["regions"];
  /** Region → since when this one cannot reach it. Most likely counts from that region are missing, too. */
  readonly unreachable: Readonly<Record<string, Timestamp>>;
}

/** The part that the document snapshots of all SDKs share. */
interface FieldReader {
  get(field: string): unknown;
}

/** The part of a total that clients have written to the counter document itself. */
export function directCountOf(document: FieldReader): number {
  return (document.get("direct.count") as number | undefined) ?? 0;
}

/** Microseconds since the epoch; 0 without an instant. */
export function microsOf(at: { readonly seconds: number; readonly nanoseconds: number } | null | undefined): number {
  return at ? at.seconds * 1e6 + Math.floor(at.nanoseconds / 1e3) : 0;
}

/** What the function `totals` tells of a counter. */
export function toServedSnapshot<Timestamp>(
  document: FieldReader,
  fromCache: boolean,
  pending = false,
): Pick<CounterSnapshotBase<Timestamp>, "total" | "asOf" | "version" | "pending" | "fromCache"> {
  const asOf = document.get("asOf") ?? null;
  // Pending writes do not count: the rules may refuse them.
  const writes = pending ? 0 : ((document.get("direct.writes") as number | undefined) ?? 0);
  return {
    total: (document.get("total") as number | undefined) ?? 0,
    asOf: asOf as Timestamp | null,
    version: microsOf(asOf as Parameters<typeof microsOf>[0]) + writes,
    pending,
    fromCache,
  };
}

/**
 * Converts the counter document to a snapshot.
 *
 * @param now  the server's time, in milliseconds since the epoch
 */
export function toSnapshot<Timestamp>(
  document: FieldReader,
  fromCache: boolean,
  now: number,
  pending?: boolean,
): CounterSnapshotBase<Timestamp> {
  const served = toServedSnapshot<Timestamp>(document, fromCache, pending);
  const windowsIn = (field: string) =>
    windowTotals(document.get(field) as CounterWindows<Seconds> | null | undefined, now);
  const windows = windowsIn("windows");
  const uniques = (document.get("uniques") as number | undefined) ?? 0;
  return {
    ...served,
    rate: (document.get("rate") as number | undefined) ?? 0,
    shardCount: (document.get("shardCount") as number | undefined) ?? 1,
    uniques,
    windows,
    globalTotal: (document.get("globalTotal") as number | undefined) ?? served.total,
    globalWindows: document.get("globalWindows") ? windowsIn("globalWindows") : windows,
    globalUniques: (document.get("globalUniques") as number | undefined) ?? uniques,
    regions: (document.get("regions") as GlobalCounterFields<Timestamp>["regions"] | undefined) ?? {},
    unreachable: (document.get("unreachable") as Record<string, Timestamp> | undefined) ?? {},
  };
}
