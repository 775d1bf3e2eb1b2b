/** What the functions and the CLI use of the server SDK, beyond its public API. */
export { refuseCountedCollection } from "./countedCollection.ts";
export { type Counter, type CounterRef, counterDoc, newCounter, readCounters } from "./counter.ts";
export { extentOf } from "./delete.ts";
export { differenceBeyondRounding } from "./difference.ts";
export { batchReceipt, commitTogether, receiptOf } from "./groupCommit.ts";
export { latestSnapshot } from "./latestSnapshot.ts";
export { amountIn, isAmount, LEGACY_SHARDS, unmappedNumbers } from "./legacyShards.ts";
export { type Moved, mirroredOf, moveLegacyIncrements } from "./moveLegacyIncrements.ts";
export { commitUnlessChanged, unchanged, writeIfUnchanged } from "./precondition.ts";
export { COMMIT_TIMEOUT_MS, retry, withTimeout } from "./retry.ts";
export { rollBackField } from "./rollBackField.ts";
export { indexedSums, type ListedShard, listShards, type ShardSum, sumOfListed, sumShards } from "./sum.ts";
