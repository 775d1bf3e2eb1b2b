/**
 * A HyperLogLog sketch: estimates how many different visitors were added, in at most 12 kB, however many there were.
 *
 * Each visitor has a hash of 64 random bits. The first 14 choose one of 16,384 registers. A register keeps the greatest rank
 * of its visitors: the position of the first 1 among the next 49 bits. So adding a visitor twice changes nothing, and the
 * greater of two registers belongs to the union.
 *
 * Up to {@link MAX_EXACT} visitors the sketch keeps their hashes, so the count is exact. Beyond, it keeps registers, and the
 * estimate has a standard error of 0.81 %.
 *
 * The estimate is that of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017
 * (https://arxiv.org/abs/1702.01284), section 2.3: unbiased from the first visitor on, without tables.
 */

/** How many hexadecimal digits of a visitor's SHA-256 make the hash. */
export const VISITOR_HASH_DIGITS = 16;

/** 14 bits of a hash choose the register. */
const REGISTER_BITS = 14;
const REGISTERS = 16_384;

/** The rank is sought in the next 49 bits; the last bit is unused. So ranks are 1 to 50, which fits 6 bits. */
const MAX_RANK = 50;

const DENSE_BYTES = 12_288;

const HASH_BYTES = 8;
const HASH = /^[0-9a-f]{16}$/;

/** How many visitors a sketch counts exactly: as many as take the space of the registers. */
export const MAX_EXACT = 1_536;

/** The stored form of a sketch: 8 bytes per visitor while there are few, else 6 bits per register. */
export interface StoredSketch {
  readonly format: "sparse" | "dense";
  readonly bytes: Uint8Array;
}

export class Sketch {
  /** Up to {@link MAX_EXACT} visitors: their hashes. More: the registers, 0 where no visitor is. */
  #visitors: Set<string> | Uint8Array = new Set();

  /** @throws RangeError if the bytes are no sketch */
  static parse({ format, bytes }: StoredSketch): Sketch {
    const sketch = new Sketch();
    sketch.#visitors = format === "dense" ? unpack(bytes) : new Set(hashesIn(bytes));
    return sketch;
  }

  /** Adds the visitor with a hash. Text that is no hash changes nothing. */
  add(hash: string): void {
    if (!HASH.test(hash)) return;
    if (this.#visitors instanceof Set && this.#visitors.add(hash).size <= MAX_EXACT) return;
    addRank(this.#toRegisters(), registerOf(hash), hashRank(hash));
  }

  /** Adds all visitors of another sketch. */
  merge(other: Sketch): void {
    if (other.#visitors instanceof Set) {
      for (const hash of other.#visitors) this.add(hash);
    } else {
      const registers = this.#toRegisters();
      for (const [register, rank] of other.#visitors.entries()) addRank(registers, register, rank);
    }
  }

  #toRegisters(): Uint8Array {
    if (!(this.#visitors instanceof Set)) return this.#visitors;
    const registers = new Uint8Array(REGISTERS);
    for (const hash of this.#visitors) addRank(registers, registerOf(hash), hashRank(hash));
    this.#visitors = registers;
    return registers;
  }

  /** How many visitors were added: an unbiased estimate, not rounded; exact for few. */
  estimate(): number {
    return this.#visitors instanceof Set ? this.#visitors.size : estimateFrom(this.#visitors);
  }

  /** The lowest rank of all registers. A visitor of this rank or a lower one changes nothing. */
  floor(): number {
    return this.#visitors instanceof Set ? 0 : Math.min(...this.#visitors);
  }

  serialize(): StoredSketch {
    if (!(this.#visitors instanceof Set)) return { format: "dense", bytes: pack(this.#visitors) };
    const hashes = [...this.#visitors].sort();
    return { format: "sparse", bytes: Uint8Array.from(hashes.flatMap((hash) => bytesOf(hash))) };
  }
}

function addRank(registers: Uint8Array, register: number, rank: number): void {
  if (rank > (registers[register] as number)) registers[register] = rank;
}

function registerOf(hash: string): number {
  return Number.parseInt(hash.slice(0, 4), 16) >>> (16 - REGISTER_BITS);
}

/** The rank of a hash: the position of the first 1 among its 49 bits, from 1; 50 if there is none. */
export function hashRank(hash: string): number {
  return MAX_RANK + 1 - BigInt.asUintN(MAX_RANK, BigInt(`0x${hash}`)).toString(2).length;
}

function bytesOf(hash: string): number[] {
  return Array.from({ length: HASH_BYTES }, (_, i) => Number.parseInt(hash.slice(2 * i, 2 * i + 2), 16));
}

function hashesIn(bytes: Uint8Array): string[] {
  if (bytes.length % HASH_BYTES !== 0) throw new RangeError(`a sparse sketch of ${bytes.length} bytes`);
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) =>
    digits.slice(VISITOR_HASH_DIGITS * i, VISITOR_HASH_DIGITS * (i + 1)),
  );
}

/** Four registers in three bytes. */
function pack(registers: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(DENSE_BYTES);
  for (let four = 0; four < REGISTERS / 4; four++) {
    const [a = 0, b = 0, c = 0, d = 0] = registers.subarray(4 * four, 4 * four + 4);
    bytes.set([(a << 2) | (b >> 4), ((b & 15) << 4) | (c >> 2), ((c & 3) << 6) | d], 3 * four);
  }
  return bytes;
}

function unpack(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== DENSE_BYTES) throw new RangeError(`a dense sketch of ${bytes.length} bytes`);
  const registers = new Uint8Array(REGISTERS);
  for (let four = 0; four < REGISTERS / 4; four++) {
    const [x = 0, y = 0, z = 0] = bytes.subarray(3 * four, 3 * four + 3);
    registers.set([x >> 2, ((x & 3) << 4) | (y >> 4), ((y & 15) << 2) | (z >> 6), z & 63], 4 * four);
  }
  return registers;
}

/** Ertl's algorithm 6: each rank counts by how often it occurs, the lowest and the highest by series. */
function estimateFrom(registers: Uint8Array): number {
  const occurrences = new Array<number>(MAX_RANK + 1).fill(0);
  for (const rank of registers) occurrences[rank] = (occurrences[rank] ?? 0) + 1;
  const fractionOf = (rank: number) => (occurrences[rank] ?? 0) / REGISTERS;
  let z = REGISTERS * tau(1 - fractionOf(MAX_RANK));
  for (let rank = MAX_RANK - 1; rank >= 1; rank--) z = (z + (occurrences[rank] ?? 0)) / 2;
  z += REGISTERS * sigma(fractionOf(0));
  return REGISTERS ** 2 / (2 * Math.LN2 * z);
}

/** x + x² + 2 x⁴ + 4 x⁸ + …, for the registers without a visitor. */
function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY;
  let sum = x;
  for (let power = x * x, factor = 1, before = -1; sum !== before; power *= power, factor *= 2) {
    before = sum;
    sum += power * factor;
  }
  return sum;
}

/** (1 − x − (1 − √x)² / 2 − …) / 3, for the registers with the highest rank. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let rest = 1 - x;
  for (let root = x, factor = 1, before = -1; rest !== before; ) {
    before = rest;
    root = Math.sqrt(root);
    factor /= 2;
    rest -= (1 - root) ** 2 * factor;
  }
  return rest / 3;
}
