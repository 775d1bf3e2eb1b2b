export type { CounterRef, CounterRefBase, IncrementOptions, InitialTotalOptions } from "firestore-tally";
export { type UseCounter, type UseCounterOptions, useCounter } from "./useCounter.ts";
export { type UseIncrementedOptions, useIncremented } from "./useIncremented.ts";
