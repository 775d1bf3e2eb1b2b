export { type CountedCollection, collectionOf, counterOf, NO_COLLECTION, parseCounted } from "./countedCollection.ts";
export { CounterError, type CounterErrorCode } from "./errors.ts";
export {
  HISTORY,
  type HistoryDocument,
  type HistoryState,
  historyPlace,
  type KeptStep,
  STEP_MILLIS,
} from "./history.ts";
export {
  BASE_SHARD,
  type CounterDocument,
  counterPath,
  DEFAULT_COLLECTION,
  type EntryDocument,
  entriesPath,
  entryPath,
  groupOf,
  MARK_LIFETIME_SECONDS,
  MARK_WINDOW_MILLIS,
  MARK_WINDOWS,
  MAX_SHARDS,
  type MarkWindow,
  NONCE_BYTES,
  type ReceiptDocument,
  type Reservation,
  receiptsPath,
  SHARDS,
  type ShardDocument,
  shardsPath,
} from "./layout.ts";
export { type Random, randomShard } from "./shardSelection.ts";
export {
  CORRECTIONS,
  type CorrectionDocument,
  type Filter,
  type FilterOperator,
  parseSource,
  type Schedule,
  type Source,
  type SourceSelection,
  type StoredSource,
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
} from "./status.ts";
export { isCount, sumOfCounts } from "./sum.ts";
export { isDocumentId, validAmount, validIncrement, validName } from "./validation.ts";
export { type IncrementPlan, planIncrement } from "./writePlan.ts";
