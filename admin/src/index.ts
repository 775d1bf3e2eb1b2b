export type { BufferedCounter, BufferOptions } from "../../core/src/buffer.ts";
export {
  CounterError,
  type CounterErrorCode,
  type Filter,
  type FilterOperator,
  type Source,
  type SourceSelection,
} from "../../core/src/index.ts";
export type { CounterOptions, Reference } from "../../core/src/reference.ts";
export type { Ranked, RankOptions, Snapshot, TopOptions } from "../../core/src/snapshot.ts";
export type { HistoryOptions, HistoryPoint, HistoryStep } from "../../core/src/timeSeries.ts";
export { bufferedCounter } from "./buffered.ts";
export { type CounterRef, counter } from "./counter.ts";
export { type IncrementOptions, incrementCounter, incrementCounterIn, undoIncrement } from "./increment.ts";
export { counterRank, type ListOptions, listCounters, topCounters } from "./list.ts";
export { type DeleteOptions, deleteCounter, type EnsureOptions, ensureCounter, resetCounter } from "./maintain.ts";
export {
  type CounterSnapshot,
  counterHistory,
  getCounter,
  getExactCounter,
  hasIncremented,
  onCounter,
  onIncremented,
} from "./read.ts";
export { type ReconcileOptions, type Reconciliation, reconcileCounter } from "./reconcile.ts";
export { type SourceOptions, setSource } from "./source.ts";
