/**
 * The most frequent items, of any number of different ones: a summary that keeps 2,048 items, at most 300 kB.
 *
 * Each item that is kept has a `count`, and an `error`: the most that may have been counted for it before it was kept. When there
 * are too many items, the most frequent stay, by `count + error`. The greatest such sum among those that go becomes the error
 * of the summary: no other item can have been counted more often, so it is the error of an item that comes, or comes back.
 * So the true count of an item always lies from `count` to `count + error`, and up to 2,048 items are counted exactly.
 *
 * This is the summary of J. Misra and D. Gries, "Finding repeated elements", 1982: its counters are `count + error` minus
 * the error of the summary. Summaries of parts of a stream merge into one of the whole with the same bound, the total
 * divided by 2,049: P. Agarwal et al., "Mergeable summaries", 2012 (https://doi.org/10.1145/2213556.2213562), section 3.
 *
 * Why not a count-min sketch: its error holds with some probability and is known before, not after, the stream. Here the error
 * is certain, and known for each item. The items that matter most are kept from the start, so theirs is 0. A sketch needs a list
 * of candidates beside it; and in the space of 2,048 items of 20 bytes it has four times the error (e × total / columns, with
 * 5 rows of 8 bytes a cell).
 */

/** How many items a summary keeps. */
export const MAX_ITEMS = 2_048;

/** The longest item, in bytes of UTF-8. */
export const MAX_ITEM_BYTES = 128;

/** Dropping items takes time, so it waits until there are twice as many as may be kept. */
const MAX_BEFORE_DROPPING = 2 * MAX_ITEMS;

/** The first byte of the stored form. */
const VERSION = 1;

/** How often an item was counted: from `count` to `count + error` times. */
export interface ItemCount {
  /** A page, a search term, or whatever the event had as its item. */
  readonly item: string;
  /** The least number of times that it was counted. */
  readonly count: number;
  /** How many may be missing in `count`; 0 if it is exact. */
  readonly error: number;
}

export class ItemSummary {
  #items = new Map<string, ItemCount>();
  #total = 0;
  #error = 0;

  /**
   * Parses a stored summary: the version, the total, the error, and for each item its length, its UTF-8, its count and its error.
   * Numbers are in LEB128: groups of 7 bits, the lowest first, each but the last with the highest bit set. Items are in order, so
   * equal summaries have equal bytes.
   *
   * @throws RangeError or TypeError if the bytes are no summary
   */
  static parse(bytes: Uint8Array): ItemSummary {
    const reader = new Reader(bytes);
    if (reader.byte() !== VERSION) throw new RangeError(`a summary of items in version ${bytes[0]}`);
    const summary = new ItemSummary();
    summary.#total = reader.number();
    summary.#error = reader.number();
    while (!reader.isAtEnd) {
      const item = reader.text();
      summary.#items.set(item, { item, count: reader.number(), error: reader.number() });
    }
    return summary;
  }

  /** How much was counted for all items. */
  get total(): number {
    return this.#total;
  }

  /** The error of any item that is not kept. None that is kept has a greater one. At most the total divided by 2,049. */
  get error(): number {
    this.#drop();
    return this.#error;
  }

  /**
   * @param item    1 to {@link MAX_ITEM_BYTES} bytes of well-formed text
   * @param count  a whole number from 1
   */
  add(item: string, count: number): void {
    const known = this.#items.get(item);
    this.#items.set(item, { item, count: (known?.count ?? 0) + count, error: known?.error ?? this.#error });
    this.#total += count;
    if (this.#items.size > MAX_BEFORE_DROPPING) this.#drop();
  }

  /** Adds all that another summary has counted. An item that only one of them keeps may have been counted in the other. */
  merge(other: ItemSummary): void {
    if (other.#error > 0) {
      for (const [item, own] of this.#items) {
        if (!other.#items.has(item)) this.#items.set(item, { ...own, error: own.error + other.#error });
      }
    }
    for (const [item, { count, error }] of other.#items) {
      const own = this.#items.get(item);
      this.#items.set(item, { item, count: count + (own?.count ?? 0), error: error + (own?.error ?? this.#error) });
    }
    this.#total += other.#total;
    this.#error += other.#error;
    if (this.#items.size > MAX_BEFORE_DROPPING) this.#drop();
  }

  /** The items with the greatest counts, the greatest first. At most {@link MAX_ITEMS}. Of equal ones those with the smaller error. */
  top(k: number): ItemCount[] {
    this.#drop();
    return [...this.#items.values()]
      .sort((a, b) => b.count - a.count || a.error - b.error || byText(a.item, b.item))
      .slice(0, k);
  }

  serialize(): Uint8Array {
    const writer = new Writer();
    const items = this.top(MAX_ITEMS);
    writer.byte(VERSION);
    writer.number(this.#total);
    writer.number(this.#error);
    for (const { item, count, error } of items) {
      writer.text(item);
      writer.number(count);
      writer.number(error);
    }
    return writer.bytes();
  }

  #drop(): void {
    if (this.#items.size <= MAX_ITEMS) return;
    const atMost = ({ count, error }: ItemCount) => count + error;
    // Of equal ones those with the smaller error stay, since they say more.
    const sorted = [...this.#items.values()].sort(
      (a, b) => atMost(b) - atMost(a) || a.error - b.error || byText(a.item, b.item),
    );
    this.#error = atMost(sorted[MAX_ITEMS] as ItemCount);
    this.#items = new Map(sorted.slice(0, MAX_ITEMS).map((kept) => [kept.item, kept]));
  }
}

/** The order of UTF-16, the same everywhere. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

class Writer {
  readonly #bytes: number[] = [];

  byte(value: number): void {
    this.#bytes.push(value);
  }

  number(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte(128 + (rest % 128));
    this.byte(rest);
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.byte(bytes.length);
    this.#bytes.push(...bytes);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at++];
    if (value === undefined) throw new RangeError(`a summary of items that ends after ${this.#bytes.length} bytes`);
    return value;
  }

  number(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.byte();
      value += unit * (byte % 128);
      if (byte < 128) return value;
    }
  }

  text(): string {
    const length = this.byte();
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    if (length === 0 || length > MAX_ITEM_BYTES || bytes.length < length)
      throw new RangeError(`an item of ${length} bytes`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  }
}
