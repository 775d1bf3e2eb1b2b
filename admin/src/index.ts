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
  type CounterSource,
  type CounterSourceFilter,
  type CounterSourceOperator,
  type CounterSourceSelection,
  type CounterWindow,
  type CounterWindowName,
  type CounterWindows,
  type CounterWindowTotals,
  type GlobalCounterFields,
  type ItemCount,
  type RegionTotal,
  type RegionTotals,
  type TopCountersOptions,
  type TopItems,
} from "../../core/src/index.ts";
export type { CallOptions } from "../../firestore/src/index.ts";
export {
  type AccountIncrementsOptions,
  type MovedIncrements,
  moveIncrements,
  undoIncrementsOf,
} from "./account.ts";
export { bufferedCounter } from "./buffered.ts";
export { type CounterRef, counter } from "./counter.ts";
export { type DeleteCounterOptions, deleteCounter } from "./delete.ts";
export { type EnsureCounterOptions, ensureCounter } from "./ensure.ts";
export { forgetVisitors } from "./forgetVisitors.ts";
export { type IncrementOptions, incrementCounter, incrementCounterIn, undoIncrement } from "./increment.ts";
export type { RateLimitResult } from "./keyLimiter.ts";
export type { RateLimitOptions } from "./leaseDecision.ts";
export { getCounterRank, getTopCounters, type ListCountersOptions, type ListedCounter, listCounters } from "./list.ts";
export { publishCounter } from "./publish.ts";
export { type RateLimiter, rateLimiter } from "./rateLimiter.ts";
export {
  type CounterSnapshot,
  getCounter,
  getCounterHistory,
  getCounters,
  getExactTotal,
  getIncremented,
  onCounter,
  onIncremented,
} from "./read.ts";
export { type CounterReconciliation, type ReconcileCounterOptions, reconcileCounter } from "./reconcile.ts";
export { type ResetCounterOptions, resetCounter } from "./reset.ts";
export { type CounterSourceOptions, setCounterSource } from "./source.ts";
export { type TakeFromCounterOptions, takeFromCounter } from "./stock.ts";
export { getTopItems } from "./topItems.ts";
export { countVisitor, getUniques } from "./visitors.ts";
