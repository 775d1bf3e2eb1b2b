/** The field `direct` as Firestore has it: parsed, because a server may have damaged it, and serialized. */
import { type DocumentSnapshot, FieldValue, type Timestamp } from "firebase-admin/firestore";
import { DIRECT_SLOTS, type DirectFields, type MarkSlot } from "../../../core/src/index.ts";
import type { DirectChange } from "./direct.ts";
import { finite, millis } from "./fields.ts";
import type { Direct } from "./types.ts";

export function parseDirect(document: DocumentSnapshot): Direct | undefined {
  const stored: Partial<DirectFields<Timestamp>> | undefined = document.get("direct");
  if (typeof stored !== "object" || stored === null) return undefined;
  const generation = Math.max(Math.floor(finite(stored.generation)), 0);
  const slotOf = (before: number) => stored.marks?.[(generation - before + DIRECT_SLOTS) % DIRECT_SLOTS];
  const writtenAt = (slot: Partial<MarkSlot<Timestamp, unknown>> | undefined) => millis(slot?.at) ?? undefined;
  const nonces = slotOf(0)?.nonces;
  return {
    open: stored.open === true,
    generation,
    count: finite(stored.count),
    marks: Array.isArray(nonces) ? nonces.length : 0,
    lastWrite: writtenAt(slotOf(0)),
    lastWriteOfAll: Math.max(0, ...Object.values(stored.marks ?? {}).map((slot) => writtenAt(slot) ?? 0)),
    lastWriteBefore: writtenAt(slotOf(1)),
  };
}

/** A change, as values of an update. That leaves the other parts of the field as they are, to which clients add. */
export function directUpdate({ open, generation }: DirectChange, isNew: boolean): Record<string, unknown> {
  return {
    "direct.open": open,
    ...(generation !== undefined && {
      "direct.generation": generation,
      // The oldest marks make room.
      [`direct.marks.${generation % DIRECT_SLOTS}`]: FieldValue.delete(),
    }),
    ...(isNew && { "direct.count": 0, "direct.writes": 0 }),
  };
}
