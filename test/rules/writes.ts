/** Writes over REST, from fields as an app gives them to an SDK; and valid increments, likes and unlikes. */
import { DIRECT_SLOTS } from "../../core/src/index.ts";
import { integer, nonceOf } from "./fuzz/values.ts";
import type { Fields, Value, Write } from "./rest.ts";

/** What the server does with a field. */
class Transform {
  readonly rest: object;
  constructor(rest: object) {
    this.rest = rest;
  }
}

export const NOW = new Transform({ setToServerValue: "REQUEST_TIME" });
export const DELETED = Symbol("the field is deleted");
export const add = (by: unknown) => new Transform({ increment: inRest(by) });
export const append = (...values: unknown[]) =>
  new Transform({ appendMissingElements: { values: values.map(inRest) } });
export const bytes = (...values: number[]) => Uint8Array.from(values);
/** So written, since whole numbers are integers otherwise. */
export const double = (doubleValue: number | string): Value => ({ doubleValue });
/** @returns a time, so many seconds before now */
export const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

/** Replaces a document. */
export function set(path: string, data: object): Write {
  const { fields, transforms } = partsOf(data);
  return { path, set: fields, transforms };
}

/** Creates a document, or changes the fields that are given. */
export function merge(path: string, data: object): Write {
  const { fields, mask, transforms } = partsOf(data);
  return { path, set: fields, mask, transforms };
}

/** Changes the fields of a document that exists. */
export const update = (path: string, data: object): Write => ({ ...merge(path, data), precondition: { exists: true } });

export const remove = (path: string): Write => ({ path, delete: true });

interface Parts {
  readonly fields: Fields;
  readonly mask: string[];
  readonly transforms: NonNullable<Write["transforms"]>;
}

function partsOf(data: object, prefix = ""): Parts {
  const parts: Parts = { fields: {}, mask: [], transforms: [] };
  for (const [name, content] of Object.entries(data)) {
    const path = `${prefix}\`${name}\``;
    if (content === DELETED) parts.mask.push(path);
    else if (content instanceof Transform) parts.transforms.push({ fieldPath: path, ...content.rest });
    else if (isMap(content) && Object.keys(content).length > 0) {
      const inner = partsOf(content, `${path}.`);
      if (Object.keys(inner.fields).length > 0) parts.fields[name] = { mapValue: { fields: inner.fields } };
      parts.mask.push(...inner.mask);
      parts.transforms.push(...inner.transforms);
    } else {
      parts.fields[name] = inRest(content);
      parts.mask.push(path);
    }
  }
  return parts;
}

/** Whether it is neither a list, a time nor bytes, nor a value of REST. */
function isMap(content: unknown): content is object {
  if (typeof content !== "object" || content === null || Object.getPrototypeOf(content) !== Object.prototype)
    return false;
  return !/Value$/.test(Object.keys(content)[0] ?? "");
}

function inRest(content: unknown): Value {
  if (content === null) return { nullValue: null };
  if (typeof content === "string") return { stringValue: content };
  if (typeof content === "boolean") return { booleanValue: content };
  if (typeof content === "number") return Number.isInteger(content) ? integer(content) : double(String(content));
  if (content instanceof Date) return { timestampValue: content.toISOString() };
  if (content instanceof Uint8Array) return { bytesValue: Buffer.from(content).toString("base64") };
  if (Array.isArray(content)) return { arrayValue: { values: content.map(inRest) } };
  if (isMap(content)) return { mapValue: { fields: partsOf(content).fields } };
  return content as Value;
}

let nextNonce = 0;
/** Four unique bytes. */
export const nonce = () => nonceOf(nextNonce++);
/** The nonce of the last increment. */
export const lastNonce = () => nonceOf(nextNonce - 1);

/** The slot that increments mark. */
export const SLOT = "2";
export const slot = (...nonces: unknown[]) => ({ at: NOW, nonces: append(...nonces) });

/** A valid increment of a shard, with some fields replaced. */
export function increment(shard: string, changes: object = {}): Write {
  const marks = { [SLOT]: slot(nonce()) };
  const id = shard.slice(shard.lastIndexOf("/") + 1);
  return merge(shard, { shard: id, count: add(1), writes: add(1), at: NOW, marks, ...changes });
}

/** A valid increment of a counter document that is open, or does not exist, with some fields replaced. */
export function directIncrement(counter: string, generation = 0, changes: DirectChanges = {}): Write {
  const { by = 1, direct, marks, ...others } = changes;
  const id = counter.slice(counter.indexOf("/") + 1);
  return merge(counter, {
    group: id.includes(":") ? id.slice(0, id.indexOf(":")) : "",
    total: add(by),
    direct: {
      open: true,
      generation,
      count: add(by),
      writes: add(1),
      marks: { [generation % DIRECT_SLOTS]: slot(nonce()), [(generation + 1) % DIRECT_SLOTS]: DELETED, ...marks },
      ...direct,
    },
    ...others,
  });
}

interface DirectChanges {
  readonly by?: number;
  readonly direct?: object;
  readonly marks?: object;
  readonly [field: string]: unknown;
}

export function like(counter: string, user: string, shard = "0", changes: object = {}): Write[] {
  return [
    set(`${counter}/tallyEntries/${user}`, { once: user, by: 1, shard, at: NOW, ...changes }),
    shard === "direct" ? directIncrement(counter) : increment(`${counter}/shards/${shard}`),
  ];
}

export function unlike(counter: string, user: string, shard = "0", by = -1): Write[] {
  return [
    remove(`${counter}/tallyEntries/${user}`),
    shard === "direct"
      ? directIncrement(counter, 0, { by })
      : increment(`${counter}/shards/${shard}`, { count: add(by) }),
  ];
}
