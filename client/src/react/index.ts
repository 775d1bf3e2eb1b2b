export type { CounterRef, IncrementOptions } from "firestore-tally";
export { type UseCounter, type UseCounterOptions, useCounter } from "./useCounter.ts";
