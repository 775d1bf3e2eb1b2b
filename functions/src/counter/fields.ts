/** Fields of Firestore, with times in milliseconds: parsed, because a server may have damaged them, and serialized. */
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import { type Millis, toMillis } from "./time.ts";

export function finite(value: unknown): number {
  return Number.isFinite(value) ? (value as number) : 0;
}

export function millis(value: unknown): Millis | null {
  return value instanceof Timestamp ? toMillis(value) : null;
}

/**
 * A field that a document has only with a value, for a write of that document.
 *
 * @param isStored  whether there is a document, which may have an old value
 */
export function fieldIf(name: string, value: object | true | null, isStored: boolean): object {
  if (value !== null) return { [name]: value };
  return isStored ? { [name]: FieldValue.delete() } : {};
}

/** To the microsecond. */
export function toTimestamp(millis: Millis): Timestamp {
  const micros = Math.round(millis * 1_000);
  const seconds = Math.floor(micros / 1e6);
  return new Timestamp(seconds, (micros - seconds * 1e6) * 1_000);
}
