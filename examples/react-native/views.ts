/** Views of an app, counted through the native SDK. `useCounter` of `firestore-tally/react` works with the same reference. */
import { getFirestore } from "@react-native-firebase/firestore";
import { type CounterRef, counter } from "firestore-tally";

export function viewsOf(page: string): CounterRef {
  return counter(getFirestore(), `views:${page}`);
}
