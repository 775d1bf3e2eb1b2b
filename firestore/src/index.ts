/**
 * Access to Firestore that servers and the functions share: reads and commits with a time limit, the sum of a counter's shards at one instant,
 * commits on preconditions, and the documents of Google's counter.
 *
 * Each call says what it costs in reads and writes. Errors are those of Firestore; `withSignal` also throws `counter/invalid-option` and
 * `counter/unknown-outcome`.
 */
export { EMULATOR_SNAPSHOT_LAG_MS, latestSnapshot } from "./latestSnapshot.ts";
export { amountIn, isAmount, isMap, LEGACY_SHARDS, unmappedNumbers } from "./legacyShards.ts";
export { type Moved, mirroredOf, moveLegacyIncrements } from "./moveLegacyIncrements.ts";
export { commitUnlessChanged, unchanged, writeIfUnchanged } from "./precondition.ts";
export { backoff, COMMIT_TIMEOUT_MS, isTransient, RETRY_FOR_MS, retry, withReadTimeout, withTimeout } from "./retry.ts";
export { rollBackField } from "./rollBackField.ts";
export { type CallOptions, throwIfAborted, withoutSignal, withSignal } from "./signal.ts";
export { indexedSums, type ListedShard, listShards, type ShardSum, sumField, sumOfListed, sumShards } from "./sum.ts";
