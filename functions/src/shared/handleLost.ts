/**
 * What the sweep does about events that were never delivered. What an event should have handled waits in a subcollection until then,
 * and is deleted when it is handled. So a document that has waited for a minute was left by an event that is lost, or late.
 *
 * The sweep looks at the first document below each parent: whatever handles one handles all of that parent, so a fresh first one has an
 * event that will. Where very many parents have some, it also looks at a random part of them, so that the others are not left out for ever.
 */
import {
  type CollectionReference,
  type DocumentReference,
  FieldPath,
  type QueryDocumentSnapshot,
} from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import type { Backend } from "../counter/backend.ts";
import { logError } from "../counter/log.ts";
import { randomStart } from "../counter/randomStart.ts";
import { type Millis, toMillis } from "../counter/time.ts";

/** Far longer than the ten seconds between two merges, and than events usually take. */
const LONGEST_WAIT: Millis = 60_000;

/** How many parents a sweep looks at from the first one on, and again from a random place on. */
const MAX_PARENTS = 100;

/** Before all other ids, and after them: no event can carry a control character. */
export const FIRST_ID = " ";
export const LAST_ID = "\u{10ffff}";

/** Whether the event of a document's last write is lost. If it is only late, it finds nothing to do. */
export function isLost({ updateTime }: Pick<QueryDocumentSnapshot, "updateTime">, now: Millis): boolean {
  return now - toMillis(updateTime) > LONGEST_WAIT;
}

/**
 * Handles what lost events have left in the subcollections of one name below a collection. Failures are logged, and stop nothing else.
 *
 * Cost: 1 read, and 1 for each parent that has any such document. With more than 100 parents, up to 300 reads.
 *
 * @param handle  handles all documents of a parent, given the first; returns whether there was something to do
 */
export async function handleLost(
  { now }: Backend,
  root: CollectionReference,
  subcollection: string,
  handle: (parent: DocumentReference, first: QueryDocumentSnapshot) => Promise<boolean>,
): Promise<void> {
  const all = root.firestore.collectionGroup(subcollection).orderBy(FieldPath.documentId());

  /** The first document at or after a path. */
  async function firstFrom(from: DocumentReference): Promise<QueryDocumentSnapshot | undefined> {
    const [found] = (await all.where(FieldPath.documentId(), ">=", from).limit(1).get()).docs;
    return found?.ref.path.startsWith(`${root.path}/`) ? found : undefined;
  }

  /** @returns whether those were all parents */
  async function lookFrom(start: DocumentReference): Promise<boolean> {
    let first = await firstFrom(start);
    for (let parents = 0; first && parents < MAX_PARENTS; parents++) {
      if (isLost(first, now())) await tryToHandle(first);
      first = await firstFrom(first.ref.parent.doc(LAST_ID));
    }
    return first === undefined;
  }

  /** The id, in the collection, of what the first document at or after a path is below. */
  async function idFrom(text: string): Promise<string | undefined> {
    const found = await firstFrom(root.doc(text));
    return found?.ref.path.slice(root.path.length + 1).split("/", 1)[0];
  }

  async function tryToHandle(first: QueryDocumentSnapshot): Promise<void> {
    const parent = first.ref.parent.parent as DocumentReference;
    const what = { document: first.ref.path };
    try {
      if (await handle(parent, first)) logger.warn("handled what a lost event has left", what);
    } catch (error) {
      logError("could not handle what a lost event has left; the next sweep tries again", { ...what, error });
    }
  }

  if (await lookFrom(root.doc(FIRST_ID))) return;
  await lookFrom(root.doc(await randomStart(FIRST_ID, idFrom)));
}
