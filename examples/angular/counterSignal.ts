/** A counter as an Angular signal. */
import { DestroyRef, inject, type Signal, signal } from "@angular/core";
import { type CounterRef, type CounterState, counterStore } from "firestore-tally";

/** Watches a counter until the injection context is destroyed: call it where a component sets its fields. */
export function counterSignal(ref: CounterRef): Signal<CounterState> {
  const state = signal<CounterState>({});
  inject(DestroyRef).onDestroy(counterStore(ref).subscribe((next) => state.set(next)));
  return state.asReadonly();
}
