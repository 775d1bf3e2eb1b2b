/** The writes of one increment, and its mark in what is read afterwards. */
import {
  arrayUnion,
  Bytes,
  type DocumentSnapshot,
  deleteField,
  doc,
  increment,
  serverTimestamp,
  type Timestamp,
  type WriteBatch,
} from "firebase/firestore";
import { DIRECT, groupOf, type IncrementPlan, planIncrement, randomShard } from "../../../core/src/index.ts";
import type { Counter } from "./counter.ts";

/** An increment, before its document is chosen. */
export interface IncrementToPlan {
  readonly _by: number;
  readonly _once?: string | undefined;
  /** Of an undo: what the entry names, a shard or `direct`. Of a take: the shard that is to give the units. */
  readonly _undoneShard?: string | undefined;
  /** The generation that it joins in the counter document, instead of a shard. */
  readonly _generation?: number | undefined;
}

export function planFor(counter: Counter, { _by, _once, _undoneShard, _generation }: IncrementToPlan): IncrementPlan {
  const { path, _latest, _shardCountCache } = counter;
  const undone = _undoneShard === DIRECT ? "0" : _undoneShard;
  const place = _generation ?? undone ?? randomShard(_shardCountCache._shardsToChooseFrom(), Math.random);
  const plan = planIncrement(path, place, _by, Date.now(), Math.random, _once);
  return _generation === undefined || _latest?.exists() ? plan : { ...plan, group: groupOf(counter.id) };
}

/** Adds the writes of a planned increment to a batch or transaction. */
export function addWrites(
  writer: WriteBatch,
  { firestore }: Counter,
  plan: IncrementPlan,
  undoneShard?: string,
  removesMarks?: boolean,
): void {
  const { path, entry, shard, generation, group, by, slot, expired, nonce } = plan;
  const at = serverTimestamp();
  const nonces = arrayUnion(Bytes.fromUint8Array(nonce));
  const entryDoc = entry && doc(firestore, entry);
  if (entryDoc && undoneShard) writer.delete(entryDoc);
  else if (entryDoc) writer.set(entryDoc, { once: entryDoc.id, by, shard, at });
  const isDirect = generation !== undefined;
  const count = increment(by);
  const marks = { [slot]: { at, nonces }, ...((isDirect || removesMarks) && { [expired]: deleteField() }) };
  const counted = { count, writes: increment(1), marks };
  const isNew = group !== undefined;
  const direct = { ...(isNew && { open: true }), generation, ...counted };
  const document = isDirect ? { ...(isNew && { group }), total: count, direct } : { shard, at, ...counted };
  writer.set(doc(firestore, path), document, { merge: true });
}

/** Whether a document has the mark of an increment. */
export function hasMark(document: DocumentSnapshot | undefined, plan: IncrementPlan): boolean {
  return !!slotWithMark(document, plan);
}

/** The slot of a document that has the mark of an increment. While the SDK has writes of the slot in its queue, `at` is `null`. */
export function slotWithMark(
  document: DocumentSnapshot | undefined,
  { generation, slot, nonce }: IncrementPlan,
): { readonly at: Timestamp | null } | undefined {
  const found = document?.get(`${generation === undefined ? "marks" : "direct.marks"}.${slot}`);
  const mark = Bytes.fromUint8Array(nonce);
  return found?.nonces?.some((one: Bytes) => one.isEqual(mark)) && found;
}
