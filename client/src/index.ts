export { CounterError, type CounterErrorCode } from "../../core/src/index.ts";
export { type CounterOptions, type CounterRef, counter } from "./counter.ts";
export { type IncrementOptions, incrementCounter } from "./increment.ts";
export { type CounterSnapshot, getCounter, getExactCounter, onCounter } from "./read.ts";
