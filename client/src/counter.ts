/** A reference to one counter: where it is, checked, and nothing else. */
import type { Firestore } from "firebase/firestore";
import { DEFAULT_COLLECTION, validCollection, validCounterId } from "../../core/src/index.ts";

export interface CounterOptions {
  /** The collection that holds the counters: the `COLLECTION` the functions were deployed with. Default `"counters"`. */
  collection?: string;
}

/** Names one counter. Cheap to make, safe to make again: all references to one counter share what is known of it. */
export interface CounterRef {
  readonly firestore: Firestore;
  readonly id: string;
  readonly collection: string;
}

/**
 * Refers to a counter. No I/O; the counter comes into being with its first increment.
 *
 * @param id  any Firestore document id. `group:key`, such as `views:home`, is the recommended form
 * @throws CounterError `counter/invalid-id` or `counter/invalid-collection`
 *
 * @example
 * const views = counter(db, "views:home");
 */
export function counter(firestore: Firestore, id: string, options: CounterOptions = {}): CounterRef {
  return {
    firestore,
    id: validCounterId(id),
    collection: validCollection(options.collection ?? DEFAULT_COLLECTION),
  };
}
