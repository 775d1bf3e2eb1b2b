/** What the rules of shards and of counter documents say alike about marks. */
import { NONCE_BYTES } from "../../../core/src/index.ts";
import { planted } from "../mutations/mutation.ts";
import { type Fields, isEqual, isMap, type Micros, microsOf, type Value } from "./values.ts";

/** The fields of a document before and after a write. */
export interface Step {
  readonly before: Fields;
  readonly after: Fields;
}

/** A slot gets one nonce at its end, and the request time. @param most  it has fewer nonces before */
export function isMarked(before: Value | undefined, after: Value | undefined, time: Micros, most: number): boolean {
  const { at, nonces, ...rest } = mapOf(after);
  const known = noncesOf(before);
  if (known.length >= most) return false;
  if (microsOf(at) !== time || !Array.isArray(nonces) || Object.keys(rest).length > 0) return false;
  const nonce: unknown = nonces.at(-1);
  return isAppended(nonces, known) && nonce instanceof Uint8Array && nonce.length === NONCE_BYTES;
}

/** Whether exactly one nonce was appended. A replay appends none, because `arrayUnion` finds its nonce. */
export function isAppended(nonces: readonly Value[], known: readonly Value[]): boolean {
  if (planted.withoutRule === "the nonce is new") return true;
  return nonces.length === known.length + 1 && isEqual(nonces.slice(0, -1), known);
}

/** The fields whose values differ. */
export function changedIn(old: Fields, now: Fields): string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !isEqual(old[name], now[name]));
}

/** The nonces of a slot. */
export function noncesOf(slot: Value | undefined): readonly Value[] {
  const { nonces } = mapOf(slot);
  return Array.isArray(nonces) ? nonces : [];
}

export function mapOf(value: Value | undefined): Fields {
  return isMap(value) ? (value as Fields) : {};
}
