/** A reference to a counter, for any SDK: `Firestore` is its database type. */

/** Where the counters are, if not in the default collection. */
export interface CounterOptions {
  /** The collection of the counters: the parameter `COLLECTION` of the functions. Default `"counters"`. */
  collection?: string;
}

/** Names one counter. Calls for the same counter return the same object. */
export interface CounterRefBase<Firestore> {
  /** The database of the counter. */
  readonly firestore: Firestore;
  /** The id of the counter document. The part before its first colon is the group. */
  readonly id: string;
  /** The path of the counter document, relative to the database. */
  readonly path: string;
}
