/** A counter in a Vue component. */
import { type CounterRef, type CounterState, counterStore } from "firestore-tally";
import { type MaybeRefOrGetter, type ShallowRef, shallowRef, toValue, watchEffect } from "vue";

/** Watches a counter while the component is mounted. Pass a getter if the counter changes with the component's props. */
export function useCounter(counter: MaybeRefOrGetter<CounterRef>): Readonly<ShallowRef<CounterState>> {
  const state = shallowRef<CounterState>({});
  const watch = (onCleanup: (stop: () => void) => void) => {
    onCleanup(
      counterStore(toValue(counter)).subscribe((next) => {
        state.value = next;
      }),
    );
  };
  // Effects with this flush do not run on a server, where nothing would end the watch.
  watchEffect(watch, { flush: "post" });
  return state;
}
