/**
 * The functions of Google's counter: they move legacy shards into the fields, in transactions
 * (testkit/legacy/README.md). Each call here is one run. A test decides what happens in the middle, between its reads and its
 * commit.
 */
import { FieldValue, type Firestore, type Transaction } from "firebase-admin/firestore";
import { addedTo, areZero, LEGACY_SHARDS, type Sums, sumsIn } from "./sums.ts";

/** Called between the reads of a run and its commit, in each attempt. */
type Midway = () => Promise<void>;

const proceed: Midway = async () => undefined;

/** The controller: moves all shards of some documents into fields, in one transaction. @returns how many shards */
export async function moveIntoFields(
  firestore: Firestore,
  documents: readonly string[],
  midway = proceed,
): Promise<number> {
  return await firestore.runTransaction(async (transaction) => {
    const reads = documents.map(async (path) => {
      const document = firestore.doc(path);
      const shards = await transaction.get(document.collection(LEGACY_SHARDS));
      return { shards: shards.docs, shown: shards.empty ? undefined : await transaction.get(document) };
    });
    const found = await Promise.all(reads);
    await midway();
    for (const { shown, shards } of found) {
      if (shown) transaction.set(shown.ref, addedTo(shown.data(), sumsIn(shards)), { merge: true });
      for (const shard of shards) transaction.delete(shard.ref);
    }
    return found.reduce((count, { shards }) => count + shards.length, 0);
  });
}

/** A worker: moves the clients' shards whose ids begin with a prefix into a partial shard. @returns how many shards */
export async function moveIntoPartial(
  firestore: Firestore,
  document: string,
  prefix: string,
  midway = proceed,
): Promise<number> {
  const { docs } = await firestore.doc(document).collection(LEGACY_SHARDS).get();
  const listed = docs.filter(({ id }) => id.startsWith(prefix));
  if (listed.length === 0) return 0;
  return await firestore.runTransaction(async (transaction) => {
    const shards = (await transaction.getAll(...listed.map(({ ref }) => ref))).filter(({ exists }) => exists);
    await midway();
    if (shards.length === 0) return 0;
    append(transaction, firestore, partialPath(document, prefix), sumsIn(shards));
    for (const shard of shards) transaction.delete(shard.ref);
    return shards.length;
  });
}

/**
 * A worker: adds a partial shard to the fields, and appends the negative sums to it. It reads the partial shard before the
 * transaction, so that others can append meanwhile.
 *
 * @returns whether there was anything to move
 */
export async function movePartial(
  firestore: Firestore,
  document: string,
  prefix: string,
  midway = proceed,
): Promise<boolean> {
  const path = partialPath(document, prefix);
  const partial = await firestore.doc(path).get();
  if (areZero(sumsIn([partial]))) return false;
  await midway();
  await firestore.runTransaction(async (transaction) => {
    const shown = await transaction.get(firestore.doc(document));
    transaction.set(shown.ref, addedTo(shown.data(), sumsIn([partial])), { merge: true });
    append(transaction, firestore, path, sumsIn([partial], -1));
  });
  return true;
}

/** A worker: deletes a partial shard whose sums are zero, or replaces its list by one entry. */
export async function compactPartial(firestore: Firestore, document: string, prefix: string): Promise<void> {
  const ref = firestore.doc(partialPath(document, prefix));
  await firestore.runTransaction(async (transaction) => {
    const partial = await transaction.get(ref);
    const sums = sumsIn([partial]);
    if (areZero(sums)) transaction.delete(ref);
    else transaction.set(ref, { _updates_: [entry(firestore, sums)] });
  });
}

function partialPath(document: string, prefix: string): string {
  return `${document}/${LEGACY_SHARDS}/${prefix.padStart(5, "\t")}`;
}

function append(transaction: Transaction, firestore: Firestore, path: string, sums: Sums): void {
  const updates = FieldValue.arrayUnion(entry(firestore, sums));
  transaction.set(firestore.doc(path), { _updates_: updates }, { merge: true });
}

/** The id keeps two entries with the same sums apart. */
function entry(firestore: Firestore, sums: Sums) {
  return { _id_: firestore.collection(LEGACY_SHARDS).doc().id, _data_: sums };
}
