/** The field `direct` as Firestore has it: parsed, because a server may have damaged it, and serialized. */
import { type DocumentSnapshot, FieldValue, type Timestamp } from "firebase-admin/firestore";
import { DIRECT_WINDOWS, type DirectFields, type MarkWindow } from "../../../core/src/index.ts";
import type { DirectChange } from "./direct.ts";
import { finite, millis } from "./fields.ts";
import type { Direct } from "./types.ts";

export function parseDirect(document: DocumentSnapshot): Direct | undefined {
  const stored: Partial<DirectFields<Timestamp>> | undefined = document.get("direct");
  if (typeof stored !== "object" || stored === null) return undefined;
  const generation = Math.max(Math.floor(finite(stored.generation)), 0);
  const windowOf = (before: number) => stored.marks?.[(generation - before + DIRECT_WINDOWS) % DIRECT_WINDOWS];
  const writtenAt = (window: Partial<MarkWindow<Timestamp, unknown>> | undefined) => millis(window?.at) ?? undefined;
  const nonces = windowOf(0)?.nonces;
  return {
    open: stored.open === true,
    generation,
    count: finite(stored.count),
    marks: Array.isArray(nonces) ? nonces.length : 0,
    lastWrite: writtenAt(windowOf(0)),
    lastWriteOfAll: Math.max(0, ...Object.values(stored.marks ?? {}).map((window) => writtenAt(window) ?? 0)),
    lastWriteBefore: writtenAt(windowOf(1)),
  };
}

/** A change, as values of an update. That leaves the other parts of the field as they are, to which clients add. */
export function directUpdate({ open, generation }: DirectChange, isNew: boolean): Record<string, unknown> {
  return {
    "direct.open": open,
    ...(generation !== undefined && {
      "direct.generation": generation,
      // The oldest marks make room.
      [`direct.marks.${generation % DIRECT_WINDOWS}`]: FieldValue.delete(),
    }),
    ...(isNew && { "direct.count": 0, "direct.writes": 0 }),
  };
}
