export {
  type BufferedCounter,
  type BufferOptions,
  type CalendarWindow,
  CounterError,
  type CounterErrorCode,
  type CounterOptions,
  type GlobalCount,
  type HistoryOptions,
  type HistoryPoint,
  type HistoryStep,
  type ItemCount,
  type RankOptions,
  type RateLimit,
  type Reference,
  type Register,
  type Registers,
  type Snapshot,
  type TopItems,
  type TopOptions,
  type WindowCount,
  type Windows,
  type WindowTotals,
} from "../../../core/src/index.ts";
export { bufferedCounter, type WebBufferOptions } from "./buffered.ts";
export { type CounterRef, counter } from "./counter.ts";
export { hasIncremented, onIncremented } from "./entries.ts";
export {
  type IncrementOptions,
  incrementCounter,
  incrementCounterIn,
  type PreparedIncrement,
  prepareIncrement,
  undoIncrement,
} from "./increment.ts";
export { incrementCounterWithin, withRateLimit } from "./rateLimit.ts";
export { type CounterSnapshot, counterHistory, getCounter, getCounters, getExactCounter } from "./read.ts";
export {
  connectRegions,
  type GlobalCounter,
  type GlobalSnapshot,
  type Regions,
  type RegionsOptions,
} from "./regions.ts";
export { type TakeOptions, takeFromCounter } from "./stock.ts";
export { type CounterState, type CounterStore, counterStore } from "./store.ts";
export { counterRank, type ListedCounter, topCounters } from "./top.ts";
export { getTopItems } from "./topItems.ts";
export { countVisitor, getUniques, type VisitorOptions } from "./visitors.ts";
export { onCounter, type WatchOptions } from "./watch.ts";
