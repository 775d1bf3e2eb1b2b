/** What the functions and the CLI use of the server SDK, beyond its public API. */
export { type CounterRef, counterDoc, newCounter } from "./counter.ts";
export { extentOf } from "./delete.ts";
export { driftOf } from "./drift.ts";
export { giveBack } from "./giveBack.ts";
export { commitTogether, receiptOf } from "./groupCommit.ts";
export { isAmount, LEGACY_SHARDS, unmappedNumbers } from "./legacyShards.ts";
export { type Moved, mirroredOf, moveLegacyIncrements } from "./moveLegacyIncrements.ts";
export { commitUnlessChanged, unchanged, writeIfUnchanged } from "./precondition.ts";
export { COMMIT_TIMEOUT_MS, retry, within } from "./retry.ts";
export { indexedSums, type ListedShard, type ShardSum, sumOfListed, sumShards } from "./sum.ts";
