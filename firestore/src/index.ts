/**
 * What servers and the functions do with Firestore, as the SDK does not: reads and commits that end, the sum of a counter's shards at one
 * instant, commits on the precondition that documents are as they were read, and the documents of Google's counter extension.
 *
 * Each call says what it costs in reads and writes. None of them remembers anything, and none knows of a feature. They throw the errors of
 * Firestore.
 */
export { latestSnapshot } from "./latestSnapshot.ts";
export { amountIn, isAmount, LEGACY_SHARDS, unmappedNumbers } from "./legacyShards.ts";
export { type Moved, mirroredOf, moveLegacyIncrements } from "./moveLegacyIncrements.ts";
export { commitUnlessChanged, unchanged, writeIfUnchanged } from "./precondition.ts";
export { backoff, COMMIT_TIMEOUT_MS, isTransient, RETRY_FOR_MS, retry, withReadTimeout, withTimeout } from "./retry.ts";
export { rollBackField } from "./rollBackField.ts";
export { type CallOptions, throwIfAborted, withoutSignal, withSignal } from "./signal.ts";
export { indexedSums, type ListedShard, listShards, type ShardSum, sumOfListed, sumShards } from "./sum.ts";
