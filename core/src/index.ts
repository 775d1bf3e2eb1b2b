export { setBackgroundTimer } from "./backgroundTimer.ts";
export { type BufferedCounter, type BufferedCounterOptions, createBuffer } from "./buffer.ts";
export {
  type CountedCollection,
  countedCollectionOf,
  counterIdOf,
  NO_COLLECTION,
  parseCountedCollection,
} from "./countedCollection.ts";
export { COUNTER_COLLECTIONS, OUTBOX } from "./counterCollections.ts";
export { differenceBeyondRounding } from "./difference.ts";
export { type DirectTarget, directTarget, type ReadDirect } from "./directTarget.ts";
export { CounterError, type CounterErrorCode, isCounterError } from "./errors.ts";
export {
  DAY_END,
  HISTORY,
  type HistoryDocument,
  type HistoryState,
  historyPlace,
  STEP_MILLIS,
  type StoredStep,
} from "./historyDocument.ts";
export {
  type CounterHistoryOptions,
  type CounterHistoryPoint,
  type CounterHistoryStep,
  historyPoints,
  historyRange,
} from "./historyPoints.ts";
export {
  ITEM_COUNTS,
  type ItemCountsDocument,
  type ItemSummaryDocument,
  itemCountsPath,
  itemSummaryPath,
  MAX_TOP_ITEMS,
  type TopItems,
  type TopItemsDocument,
  topItemsPath,
  toTopItems,
  validTopItems,
} from "./itemCounts.ts";
export {
  BASE_SHARD,
  BATCH_RECEIPTS,
  type CounterDocument,
  counterPath,
  DEFAULT_COLLECTION,
  DIRECT,
  DIRECT_SLOTS,
  type DirectFields,
  EARLY_MARK_MILLIS,
  ENTRIES,
  type EntryDocument,
  entriesPath,
  entryPath,
  groupOf,
  LATE_MARK_MILLIS,
  type LimitDocument,
  limitPath,
  MARK_LIFETIME_SECONDS,
  MARK_SLOT_MILLIS,
  MARK_SLOTS,
  MAX_DIRECT_MARKS,
  MAX_LATE_NONCES,
  MAX_MARKS_WITHOUT_FUNCTIONS,
  MAX_SHARDS,
  MAX_SLOT_NONCES,
  type MarkSlot,
  NONCE_BYTES,
  type ReceiptDocument,
  type Reservation,
  receiptsPath,
  type ServerLimitDocument,
  SHARDS,
  type ShardDocument,
  SLOW_GENERATION_SECONDS,
  type Stock,
  serverLimitPath,
  shardsPath,
  timePath,
} from "./layout.ts";
export { type CounterRankOptions, rankingFields, type TopCountersOptions, withCurrentWindow } from "./leaderboard.ts";
export {
  amountShown,
  assertSeparate,
  type Mirror,
  type MirrorSource,
  type MirrorTarget,
  mirrorName,
  mirrorSources,
  mirrorTarget,
  parseMirrors,
} from "./mirror.ts";
export { parseNumShards } from "./numShards.ts";
export { type CounterObserver, observing } from "./observer.ts";
export { type HasMark, OptimisticTotal, type OwnIncrement, type TotalRead, UNPUBLISHED } from "./optimisticTotal.ts";
export {
  chooseSlot,
  isSurelyFree,
  type KnownUses,
  learnUses,
  type RateLimit,
  unknownUses,
  validLimit,
  withoutUse,
  withUse,
} from "./rateLimit.ts";
export type { CounterOptions, CounterRefBase } from "./reference.ts";
export {
  type GlobalCounterFields,
  mergeRegisters,
  type RegionTotal,
  type RegionTotals,
  sumRegisters,
} from "./regions.ts";
export { ServerClock } from "./serverClock.ts";
export { createShardCountCache, type SentWrite, type ShardCountCache } from "./shardCountCache.ts";
export { partOfShard0, type Random, randomShard } from "./shardSelection.ts";
export { hashRank, Sketch, type StoredSketch, VISITOR_HASH_DIGITS } from "./sketch.ts";
export { type CounterSnapshotBase, directCountOf, microsOf, toServedSnapshot, toSnapshot } from "./snapshot.ts";
export {
  CORRECTIONS,
  type CorrectionDocument,
  type CounterSource,
  type CounterSourceFilter,
  type CounterSourceOperator,
  type CounterSourceSelection,
  parseSource,
  type Schedule,
  validSchedule,
  validSource,
} from "./source.ts";
export {
  ABORTED,
  ALREADY_EXISTS,
  codeOf,
  DEADLINE_EXCEEDED,
  FAILED_PRECONDITION,
  INVALID_ARGUMENT,
  isPreconditionFailure,
  NOT_FOUND,
  UNAVAILABLE,
} from "./status.ts";
export { evenShares, MAX_STOCK_SHARDS, MAX_TAKE, soldOut, stockShards, validTake } from "./stock.ts";
export { exactSum, isCount, overflow, sumOfCounts, sumOrZero } from "./sum.ts";
export {
  INCREMENTS_PER_MARK_REMOVAL,
  LOOKUP_ATTEMPTS,
  MAX_COMMIT_MS,
  MAX_PUBLISH_DELAY_MS,
  SHARD_COUNT_TTL_MS,
  SHARD_COUNT_TTL_WRITES,
  WRITES_PER_MARK_CLEANING,
} from "./timeouts.ts";
export { type ItemCount, ItemSummary, MAX_ITEM_BYTES, MAX_ITEMS } from "./topItems.ts";
export {
  givenAmount,
  givenFlag,
  givenName,
  hasOption,
  type IncrementArguments,
  isDocumentId,
  isSafeAmount,
  valid,
  validAmount,
  validGroup,
  validIncrement,
  validName,
} from "./validation.ts";
export {
  type BucketCount,
  bucketOf,
  regionSketchId,
  SKETCHES,
  sketchPath,
  UNIQUES,
  type UniquesDocument,
  uniquesPath,
  VISITORS,
  validVisitor,
  visitorHash,
} from "./visitor.ts";
export {
  type CounterWindow,
  type CounterWindowName,
  type CounterWindows,
  type CounterWindowTotals,
  eachWindow,
  WINDOW_NAMES,
  WINDOW_TITLES,
  windowTotals,
} from "./windows.ts";
export { type IncrementPlan, planIncrement } from "./writePlan.ts";
