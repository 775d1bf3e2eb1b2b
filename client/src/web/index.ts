export {
  type BufferedCounter,
  type BufferedCounterOptions,
  CounterError,
  type CounterErrorCode,
  type CounterHistoryOptions,
  type CounterHistoryPoint,
  type CounterHistoryStep,
  type CounterObserver,
  type CounterOptions,
  type CounterRankOptions,
  type CounterRefBase,
  type CounterSnapshotBase,
  type CounterWindow,
  type CounterWindowName,
  type CounterWindows,
  type CounterWindowTotals,
  type GlobalCounterFields,
  type ItemCount,
  type RateLimit,
  type RegionTotal,
  type RegionTotals,
  type TopCountersOptions,
  type TopItems,
} from "../../../core/src/index.ts";
export { bufferedCounter, type WebBufferedCounterOptions } from "./buffered.ts";
export { type CounterRef, counter } from "./counter.ts";
export { getIncremented, onIncremented } from "./entries.ts";
export {
  type IncrementOptions,
  incrementCounter,
  incrementCounterIn,
  type PreparedIncrement,
  prepareIncrement,
  undoIncrement,
} from "./increment.ts";
export { incrementCounterWithRateLimit, withRateLimit } from "./rateLimit.ts";
export {
  type CounterSnapshot,
  getCounter,
  getCounterHistory,
  getCounters,
  getExactTotal,
  type ServedCounterSnapshot,
} from "./read.ts";
export {
  connectRegions,
  type GlobalCounterRef,
  type GlobalCounterSnapshot,
  globalCounter,
  incrementGlobalCounter,
  onGlobalCounter,
  type Regions,
  type RegionsOptions,
  regionalCounter,
} from "./regions.ts";
export { type TakeFromCounterOptions, takeFromCounter } from "./stock.ts";
export {
  type CounterState,
  type CounterStore,
  type CounterStoreOptions,
  counterStore,
  type InitialTotalOptions,
  type ServedCounterState,
  type ServedCounterStoreOptions,
} from "./store.ts";
export { getCounterRank, getTopCounters, type ListedCounter } from "./top.ts";
export { getTopItems } from "./topItems.ts";
export { countVisitor, getUniques } from "./visitors.ts";
export { type CounterWatchOptions, onCounter, type ServedCounterWatchOptions } from "./watch.ts";
