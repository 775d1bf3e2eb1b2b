/** Random numbers that a seed and a name determine (sfc32, by Chris Doty-Humphrey, of PractRand). */

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(a: number, b: number, c: number) {
    [this.#a, this.#b, this.#c] = [a, b, c];
    for (let i = 0; i < 12; i++) this.next();
  }

  /** From 0 to 1, without 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  integer(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  pick<T>(some: readonly T[]): T {
    return some[this.integer(0, some.length - 1)] as T;
  }
}

export function randomFor(seed: number, name: string): Random {
  // FNV-1a.
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return new Random(seed | 0, Math.floor(seed / 2 ** 32) | 0, hash);
}
