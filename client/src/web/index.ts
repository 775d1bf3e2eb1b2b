export type { BufferedCounter, BufferOptions } from "../../../core/src/buffer.ts";
export { CounterError, type CounterErrorCode } from "../../../core/src/index.ts";
export type { CounterOptions, Reference } from "../../../core/src/reference.ts";
export type { Ranked, RankOptions, Snapshot, TopOptions } from "../../../core/src/snapshot.ts";
export type { HistoryOptions, HistoryPoint, HistoryStep } from "../../../core/src/timeSeries.ts";
export { bufferedCounter } from "./buffered.ts";
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
export { type CounterSnapshot, counterHistory, getCounter, getExactCounter } from "./read.ts";
export { type CounterState, type CounterStore, counterStore } from "./store.ts";
export { counterRank, topCounters } from "./top.ts";
export { onCounter, type WatchOptions } from "./watch.ts";
