/** Values of documents over REST, and the marks among them. */
import type { Fields, Value } from "../rest.ts";

/** A nonce of five bytes, different for each number. */
export function nonceOf(n: number): Value {
  const bytes = Buffer.alloc(5);
  bytes.writeInt32BE(n);
  return { bytesValue: bytes.toString("base64") };
}

/** The `marks` of a shard. */
export function markSlots(slots: Record<string, [at: string, ...nonces: Value[]]>): Value {
  const fields = Object.entries(slots).map(([name, [timestampValue, ...values]]) => [
    name,
    { mapValue: { fields: { at: { timestampValue }, nonces: { arrayValue: { values } } } } },
  ]);
  return { mapValue: { fields: Object.fromEntries(fields) } };
}

/** The fields of a map; none of what is no map. */
export function fieldsOfMap(map: Value | undefined): Fields {
  return (map?.mapValue as { fields?: Fields } | undefined)?.fields ?? {};
}

export function noncesOf(slot: Value | undefined): Value[] {
  return (fieldsOfMap(slot).nonces?.arrayValue as { values?: Value[] } | undefined)?.values ?? [];
}

export function integer(value: number): Value {
  return { integerValue: String(value) };
}

export function numberOf(value: Value | undefined): number | undefined {
  const number = value?.integerValue ?? value?.doubleValue;
  return number === undefined ? undefined : Number(number);
}

export function textOf(value: Value | undefined): string | undefined {
  return value?.stringValue as string | undefined;
}

export function marksOf(shard: Fields | undefined): Fields {
  return fieldsOfMap(shard?.marks);
}

/** The slots of a limit document. */
export function slotsOf(limit: Fields | undefined): Fields {
  return fieldsOfMap(limit?.slots);
}

export function isWithin(at: Value | undefined, { from, to }: Span): boolean {
  const time = Date.parse(String(at?.timestampValue));
  return from <= time && time <= to;
}

/** Compares regardless of the order of fields. */
export function isEqual(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(JSON.stringify(value));
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`)}}`;
}

/** A slot that a write has marked. */
export function faultOfSlot(
  name: string,
  before: Value | undefined,
  after: Value | undefined,
  hits: number,
  span: Span,
) {
  const slot = fieldsOfMap(after);
  const foreign = Object.keys(slot).filter((field) => !["at", "nonces"].includes(field));
  if (foreign.length > 0) return `has a slot with the fields ${foreign}`;
  if (!isWithin(slot.at, span)) return `has a slot of ${JSON.stringify(slot.at)}`;
  const [old, nonces] = [noncesOf(before), noncesOf(after)];
  if (!isEqual(nonces.slice(0, old.length), old)) return `lost nonces of the slot ${name}`;
  const added = nonces.slice(old.length);
  if (added.length < 1 || added.length > hits) return `${hits} writes added ${added.length} nonces`;
  const odd = added.filter((nonce) => Buffer.from(String(nonce.bytesValue ?? ""), "base64").length !== 5);
  if (odd.length > 0) return `has the nonces ${JSON.stringify(odd)}`;
  if (new Set(nonces.map(canonical)).size < nonces.length) return `has a nonce twice in the slot ${name}`;
  return undefined;
}

/** When a batch was sent and answered, in milliseconds since the epoch. The emulator has the same clock. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Alice and Bob send batches. Carol has an entry and sends none. */
export const UIDS = ["alice", "bob", "carol"];
