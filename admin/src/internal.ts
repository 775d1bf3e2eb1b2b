/** What ingest and the command line use of the server SDK, beyond its public API. */
export { refuseCountedCollection } from "./countedCollection.ts";
export { type Counter, type CounterRef, counterDoc, newCounter, readCounters } from "./counter.ts";
export { extentOf } from "./delete.ts";
export { batchReceipt, commitTogether, receiptOf } from "./groupCommit.ts";
