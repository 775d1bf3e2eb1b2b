/** What the compiler refuses. */

import { type CounterRef, incrementCounter } from "firestore-tally";
import type { CounterRef as ServerRef } from "firestore-tally/admin";

export function refused(server: ServerRef, ref: CounterRef): void {
  // @ts-expect-error: a server's reference is no web reference
  incrementCounter(server);
  // @ts-expect-error: an amount is a number
  incrementCounter(ref, "1");
}
