export type { CounterRef, CounterRefBase, IncrementOptions } from "firestore-tally";
export { type UseCounter, type UseCounterOptions, useCounter } from "./useCounter.ts";
export { useIncremented } from "./useIncremented.ts";
