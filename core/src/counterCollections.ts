/**
 * The collections below a counter that `deleteCounter` deletes. The list is fixed, because on Firestore's Enterprise edition a list of a
 * document's collections may time out. It is whole: `docs/data-model.md` has each collection that a client, a server or a feature writes,
 * and a test compares them. A later version may add one; its own `deleteCounter` then deletes that, also of a counter that this one has
 * deleted.
 */
import { HISTORY } from "./historyDocument.ts";
import { ITEM_COUNTS } from "./itemCounts.ts";
import { ENTRIES, SHARDS } from "./layout.ts";
import { CORRECTIONS } from "./source.ts";
import { SKETCHES, VISITORS } from "./visitor.ts";

/** The subcollection of a counter that holds records of its event log until they are published. */
export const OUTBOX = "tallyOutbox";

/**
 * In the order of deletion: what waits for a merge goes before the sketches, because a merge in between would create another one. Receipts
 * are not among them: they expire, and what a sender sends again must not count again.
 */
export const COUNTER_COLLECTIONS = [
  VISITORS,
  ITEM_COUNTS,
  SKETCHES,
  SHARDS,
  ENTRIES,
  CORRECTIONS,
  HISTORY,
  OUTBOX,
] as const;
