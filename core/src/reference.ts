/** How a counter is named. The same for every SDK: `Firestore` is its database type. */

/** Where a counter is, if not in the usual place. */
export interface CounterOptions {
  /** The collection that holds the counters: the `COLLECTION` the functions were deployed with. Default `"counters"`. */
  collection?: string | undefined;
}

/** Names one counter. The same object whenever the same counter is asked for. */
export interface Reference<Firestore> {
  /** The database it is in. */
  readonly firestore: Firestore;
  /** Of the counter document. What stands before its first colon is the counter's group. */
  readonly id: string;
  /** Of the counter document, relative to the database. */
  readonly path: string;
}
