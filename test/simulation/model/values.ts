/** The values of the model's documents, and how writes change them. */

/** Microseconds since the epoch: the resolution of Firestore's clock. */
export type Micros = number;

/** Replaces the SDKs' `Timestamp`. */
export class Timestamp {
  readonly seconds: number;
  readonly nanoseconds: number;

  constructor(seconds: number, nanoseconds: number) {
    this.seconds = seconds;
    this.nanoseconds = nanoseconds;
  }

  static fromMicros(micros: Micros): Timestamp {
    const seconds = Math.floor(micros / 1e6);
    return new Timestamp(seconds, (micros - seconds * 1e6) * 1_000);
  }

  static fromMillis(millis: number): Timestamp {
    return Timestamp.fromMicros(Math.round(millis * 1_000));
  }

  toDate(): Date {
    return new Date(this.toMillis());
  }

  isEqual(other: unknown): boolean {
    return other instanceof Timestamp && other.toMicros() === this.toMicros();
  }

  /** Makes timestamps comparable with `<`, as in the SDK. */
  valueOf(): number {
    return this.toMicros();
  }

  toMillis(): number {
    return this.seconds * 1_000 + Math.floor(this.nanoseconds / 1e6);
  }

  toJSON(): string {
    return new Date(this.toMillis()).toISOString();
  }

  /** Not in the SDKs. */
  toMicros(): Micros {
    return this.seconds * 1e6 + Math.floor(this.nanoseconds / 1_000);
  }
}

/** The instant in a field; `NaN` if it has another type. */
export function microsOf(value: unknown): Micros {
  return value instanceof Timestamp ? value.toMicros() : Number.NaN;
}

/** Bytes in a field. Replaces the web SDK's `Bytes`, and is a `Uint8Array`, which the server SDK returns. */
export class Bytes extends Uint8Array {
  static fromUint8Array(bytes: Uint8Array): Bytes {
    return new Bytes(bytes);
  }

  toUint8Array(): Uint8Array {
    return new Uint8Array(this);
  }

  isEqual(other: unknown): boolean {
    return isEqual(this, other);
  }

  toJSON(): string {
    return this.toHex();
  }

  toHex(): string {
    return Array.from(this, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

export type Value = null | boolean | number | string | Timestamp | Uint8Array | readonly Value[] | Fields;
export interface Fields {
  readonly [field: string]: Value;
}

/** A transform of a field. Replaces the server SDK's `FieldValue`. */
export class FieldValue {
  readonly kind: "increment" | "serverTimestamp" | "delete" | "arrayUnion";
  readonly operand: number;
  readonly elements: readonly Value[];

  constructor(kind: FieldValue["kind"], operand = 0, elements: readonly Value[] = []) {
    this.kind = kind;
    this.operand = operand;
    this.elements = elements;
  }

  static increment(by: number) {
    return new FieldValue("increment", by);
  }
  static serverTimestamp() {
    return new FieldValue("serverTimestamp");
  }
  static delete() {
    return new FieldValue("delete");
  }
  static arrayUnion(...elements: Value[]) {
    return new FieldValue("arrayUnion", 0, elements);
  }
}

export type Written = Value | FieldValue | { readonly [field: string]: Written };

/** How many transforms a write has. The deletion of a field is none. */
export function transformsIn(written: Written | undefined): number {
  if (written instanceof FieldValue) return written.kind === "delete" ? 0 : 1;
  let transforms = 0;
  if (isMap(written)) for (const inner of Object.values(written)) transforms += transformsIn(inner);
  return transforms;
}

/** The new value of a field; `undefined` deletes it. An increment treats a field that is not a number as missing. */
function resolve(written: Written, before: Value | undefined, at: Micros): Value | undefined {
  if (isMap(written)) return setFields({}, written, at);
  if (!(written instanceof FieldValue)) return stored(written as Value);
  const { kind, operand, elements } = written;
  if (kind === "delete") return undefined;
  if (kind === "serverTimestamp") return Timestamp.fromMicros(at);
  if (kind === "arrayUnion") return union(Array.isArray(before) ? before : [], elements);
  return typeof before === "number" ? before + operand : operand;
}

function union(before: readonly Value[], elements: readonly Value[]): readonly Value[] {
  const after = [...before];
  for (const element of elements.map(stored)) if (!after.some((one) => isEqual(one, element))) after.push(element);
  return after;
}

/** The web SDK reads bytes that a server wrote as `Bytes`. */
function stored(value: Value): Value {
  if (Array.isArray(value)) return value.map(stored);
  return value instanceof Uint8Array && !(value instanceof Bytes) ? new Bytes(value) : value;
}

/** Replaces all fields. */
export function setFields(before: Fields, written: { readonly [field: string]: Written }, at: Micros): Fields {
  const after: Record<string, Value> = {};
  for (const field in written) {
    const value = resolve(written[field] as Written, before[field], at);
    if (value !== undefined) after[field] = value;
  }
  return after;
}

/** Merges the written fields into the others, and maps into maps. */
export function mergeFields(before: Fields, written: { readonly [field: string]: Written }, at: Micros): Fields {
  const after: Record<string, Value> = { ...before };
  for (const field in written) {
    const inner = written[field] as Written;
    const known = before[field];
    const value =
      isMap(inner) && Object.keys(inner).length > 0
        ? mergeFields(isMap(known) ? (known as Fields) : {}, inner, at)
        : resolve(inner, known, at);
    if (value === undefined) delete after[field];
    else after[field] = value;
  }
  return after;
}

/** Replaces the fields at paths such as `a.b`. */
export function updateFields(
  before: Fields,
  written: { readonly [field: string]: Written },
  pathOf: (field: string) => readonly string[],
  at: Micros,
): Fields {
  const after: Record<string, Value> = { ...before };
  for (const field in written) replaceField(after, pathOf(field), written[field] as Written, at);
  return after;
}

function replaceField(fields: Record<string, Value>, path: readonly string[], written: Written, at: Micros): void {
  const [field = "", ...rest] = path;
  const known = fields[field];
  if (rest.length > 0) {
    const inner: Record<string, Value> = isMap(known) ? { ...(known as Fields) } : {};
    replaceField(inner, rest, written, at);
    fields[field] = inner;
    return;
  }
  const value = resolve(written, known, at);
  if (value === undefined) delete fields[field];
  else fields[field] = value;
}

export function isMap(value: unknown): value is { readonly [field: string]: Written } {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Timestamp) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof FieldValue)
  );
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Timestamp && b instanceof Timestamp) return a.toMicros() === b.toMicros();
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
  }
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => isEqual(one, b[i]));
  if (!isMap(a) || !isMap(b)) return false;
  const fields = Object.keys(a);
  return fields.length === Object.keys(b).length && fields.every((field) => field in b && isEqual(a[field], b[field]));
}
