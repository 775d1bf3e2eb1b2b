/**
 * Visitors (I10): each that was committed is in a bucket or in the sketch, until the visitors are reset. The backend moves them
 * from the one to the other, and neither loses one nor makes one up. The published number falls with a reset alone.
 */
import { Sketch, sketchPath, uniquesPath } from "../../../core/src/index.ts";
import type { Change } from "../model/database.ts";
import type { Fields } from "../model/values.ts";
import { VISITED } from "../scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

const COUNTER = `counters/${VISITED}`;

export class VisitorCheck {
  readonly #fail: Fail;
  readonly #buckets = new Map<string, readonly string[]>();
  #sketch: readonly string[] = [];
  #uniques = 0;

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  get #visitors(): Set<string> {
    return new Set([...this.#sketch, ...[...this.#buckets.values()].flat()]);
  }

  /** @param kind  what the process may do */
  onCommit(process: Process, changes: readonly Change[], kind: string | undefined): void {
    const own = changes.filter(({ after }) => after.path === COUNTER || after.path.startsWith(`${COUNTER}/`));
    if (own.length === 0) return;
    const before = this.#visitors;
    for (const { after } of own) {
      if (after.path.startsWith(`${uniquesPath(COUNTER)}/`)) this.#buckets.set(after.path, hashesIn(after.fields));
      if (after.path === sketchPath(COUNTER)) this.#sketch = after.fields ? hashesOf(after.fields) : [];
      if (after.path === COUNTER) this.#followUniques(process, after.fields, kind);
    }
    const now = this.#visitors;
    const isRemover = kind === "reset" || kind === "delete";
    const lost = [...before].filter((hash) => !now.has(hash));
    if (lost.length > 0 && !isRemover) this.#fail("I10", `${process.name} loses the visitors ${lost}`);
    const added = [...now].filter((hash) => !before.has(hash));
    if (added.length > 0 && kind === "none") this.#fail("I10", `${process.name} makes up the visitors ${added}`);
  }

  #followUniques(process: Process, counter: Fields | undefined, kind: string | undefined): void {
    const uniques = Number(counter?.uniques ?? 0);
    if (uniques < this.#uniques && kind === "none") this.#fail("I10", `${process.name} publishes fewer visitors`);
    this.#uniques = uniques;
  }

  /** Everything was delivered. */
  atEnd(isDeleted: boolean): void {
    const waiting = [...this.#buckets.values()].flat();
    // Who deletes a counter stops its writers first.
    if (isDeleted) return;
    if (waiting.some((hash) => !this.#sketch.includes(hash)))
      this.#fail("I10", `the visitors ${waiting} wait for ever`);
    const { size } = this.#visitors;
    if (this.#uniques !== size) this.#fail("I10", `${size} visitors, of whom ${this.#uniques} are published`);
  }
}

function hashesIn(bucket: Fields | undefined): string[] {
  return (bucket?.visitors ?? []) as string[];
}

/** The hashes of a sketch that is still exact. */
function hashesOf({ format, bytes }: Fields): string[] {
  if (format !== "sparse") throw new Error("the simulation has too many visitors");
  Sketch.parse({ format, bytes: bytes as Uint8Array });
  return (Buffer.from(bytes as Uint8Array)
    .toString("hex")
    .match(/.{16}/g) ?? []) as string[];
}
