/**
 * The published totals of a watch, from the function `totals` instead of a listener. The build makes this a file of its own, which
 * is loaded by the first watch that needs it.
 */

import { Timestamp } from "firebase/firestore";
import { isFinal, poll } from "../beacon/poll.ts";

/** The failures in a row after which the watch falls back to a listener. */
const MAX_FAILURES = 3;

/** Where a watch has fallen back, and the console was told. */
const unavailable = new Set<string>();

/**
 * @param next      called with the fields of a counter document: `total` and `asOf`, none before the first publish. An older total
 *                  never follows a newer one
 * @param fallBack  called when the URL fails or refuses the counter. Nothing follows
 * @returns         a function that ends it
 */
export function watchTotals(
  url: string,
  id: string,
  next: (document: { get(field: string): unknown }) => void,
  fallBack: () => void,
): () => void {
  let last = -1;
  const stop = poll(url, {
    id,
    received(published) {
      const { total, asOf } = published ?? { total: 0, asOf: 0 };
      if (asOf <= last) return;
      last = asOf;
      const fields = new Map<string, unknown>(
        published && [
          ["total", total],
          ["asOf", Timestamp.fromMillis(asOf)],
          // The version at the end of this millisecond, in which no other publish falls.
          ["direct.writes", 999],
        ],
      );
      next(fields);
    },
    failed({ status, message }, failures) {
      // Who makes the function busy must not make all readers listen, at a read for each total. What is shown is late meanwhile.
      if (status === 429 && last >= 0) return;
      if (!isFinal(status) && failures < MAX_FAILURES) return;
      stop();
      if (!unavailable.has(url)) console.warn(`${message}; watches of ${url} listen to Firestore instead`);
      unavailable.add(url);
      fallBack();
    },
  });
  return stop;
}
