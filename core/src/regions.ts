/**
 * Regions: several databases count one counter, each for itself. What a region has published is a register: this region alone
 * writes it, and its `asOf` rises. The functions push registers to the other regions.
 *
 * Of two registers of one region the later one counts. So merging is commutative, associative and idempotent: an exchange may be
 * lost, repeated, late or out of order. The sum of the registers is the global total. It is exact for what each region has
 * published, and never counts anything twice. (A state-based PN-counter: https://inria.hal.science/inria-00555588, section 3.1.3)
 */
import { type CounterWindow, type CounterWindowName, type CounterWindows, eachWindow } from "./windows.ts";

/** What a region has published. */
export interface RegionTotal<Timestamp> {
  /** The region's own total. */
  total: number;
  /** The instant for which it is exact. */
  asOf: Timestamp;
  /** What the region has counted today, this week and this month. */
  windows: CounterWindows<Timestamp> | null;
}

/** Name of a region → its register. */
export type RegionTotals<Timestamp> = Readonly<Record<string, RegionTotal<Timestamp>>>;

/** The fields of a counter document that regions add. */
export interface GlobalCounterFields<Timestamp> {
  /** The sum of the totals of all regions, this one included. */
  globalTotal: number;
  /** The sum of the windows of all regions; absent if none has any. */
  globalWindows?: CounterWindows<Timestamp>;
  /** The estimate of the visitors of all regions; absent if none were counted. */
  globalUniques?: number;
  /** The last register that arrived from each other region; `null` if none has. */
  regions: Readonly<Record<string, RegionTotal<Timestamp> | null>>;
  /** Since when other regions could not be reached; absent if all were. */
  unreachable?: Readonly<Record<string, Timestamp>>;
}

/** The later register of each region. `known` itself if none is news. Times are milliseconds. */
export function mergeRegisters(known: RegionTotals<number>, received: RegionTotals<number>): RegionTotals<number> {
  const news = Object.entries(received).filter(([region, register]) => isLater(register, known[region]));
  return news.length > 0 ? { ...known, ...Object.fromEntries(news) } : known;
}

/** A region has one register for an instant. If a damaged document has another, all regions must still prefer the same. */
function isLater(register: RegionTotal<number>, known: RegionTotal<number> | undefined): boolean {
  if (!known || register.asOf !== known.asOf) return !known || register.asOf > known.asOf;
  return register.total > known.total;
}

/** Sums registers, in the order of the names, so that fractions are rounded alike in every region. */
export function sumRegisters(registers: RegionTotals<number>): {
  globalTotal: number;
  globalWindows: CounterWindows<number> | null;
} {
  const sorted = Object.keys(registers)
    .sort()
    .map((region) => registers[region] as RegionTotal<number>);
  return {
    globalTotal: sorted.reduce((sum, { total }) => sum + total, 0),
    globalWindows: sumWindows(sorted.map(({ windows }) => windows)),
  };
}

/**
 * The windows that end last, summed. Those of a region that has not counted since the last midnight have ended. All regions must
 * have the same time zone: a window that ends at another instant is left out.
 */
function sumWindows(all: readonly (CounterWindows<number> | null)[]): CounterWindows<number> | null {
  const present = all.filter((windows) => windows !== null);
  const [first] = present;
  if (!first) return null;
  const sum = (window: CounterWindowName): CounterWindow<number> => {
    const until = Math.max(...present.map((windows) => windows[window].until));
    const current = present.map((windows) => windows[window]).filter((count) => count.until === until);
    return { until, total: current.reduce((total, count) => total + count.total, 0) };
  };
  return { timeZone: first.timeZone, ...eachWindow(sum) };
}
