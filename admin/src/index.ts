export {
  type BufferedCounter,
  type BufferOptions,
  type CalendarWindow,
  CounterError,
  type CounterErrorCode,
  type CounterOptions,
  type Filter,
  type FilterOperator,
  type GlobalCount,
  type HistoryOptions,
  type HistoryPoint,
  type HistoryStep,
  type ItemCount,
  type RankOptions,
  type Reference,
  type Register,
  type Registers,
  type Snapshot,
  type Source,
  type SourceSelection,
  type TopItems,
  type TopOptions,
  type WindowCount,
  type Windows,
  type WindowTotals,
} from "../../core/src/index.ts";
export {
  type AccountOptions,
  type MovedIncrements,
  moveIncrements,
  undoIncrementsOf,
} from "./account.ts";
export { bufferedCounter } from "./buffered.ts";
export { type CounterRef, counter } from "./counter.ts";
export { type DeleteOptions, deleteCounter } from "./delete.ts";
export { type EnsureOptions, ensureCounter } from "./ensure.ts";
export { type IncrementOptions, incrementCounter, incrementCounterIn, undoIncrement } from "./increment.ts";
export type { RateLimitResult } from "./keyLimiter.ts";
export type { RateLimitOptions } from "./leaseDecision.ts";
export { counterRank, type ListedCounter, type ListOptions, listCounters, topCounters } from "./list.ts";
export { type RateLimiter, rateLimiter } from "./rateLimiter.ts";
export {
  type CounterSnapshot,
  counterHistory,
  getCounter,
  getCounters,
  getExactCounter,
  hasIncremented,
  onCounter,
  onIncremented,
} from "./read.ts";
export { type ReconcileOptions, type Reconciliation, reconcileCounter } from "./reconcile.ts";
export { type ResetOptions, resetCounter } from "./reset.ts";
export { type SourceOptions, setSource } from "./source.ts";
export { type TakeOptions, takeFromCounter } from "./stock.ts";
export { getTopItems } from "./topItems.ts";
export { countVisitor, getUniques } from "./visitors.ts";
