/**
 * Visitors (I10): each that was committed is in a bucket or in the sketch, until the visitors are reset. The backend moves them
 * from the one to the other, and neither loses one nor makes one up. The published number falls with a reset alone.
 */
import { createHash } from "node:crypto";
import { Sketch, sketchPath, uniquesPath, VISITOR_HASH_DIGITS } from "../../../core/src/index.ts";
import type { Change } from "../model/database.ts";
import type { Fields } from "../model/values.ts";
import { VISITED } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

const COUNTER = `counters/${VISITED}`;

export class VisitorCheck {
  readonly #fail: Fail;
  readonly #snapshotsLag: boolean;
  readonly #buckets = new Map<string, readonly string[]>();
  /** The visitors that resets have removed. */
  readonly #forgotten = new Set<string>();
  #sketch: readonly string[] = [];
  #uniques = 0;
  #isDeleted = false;
  #isReset = false;

  constructor(fail: Fail, snapshotsLag: boolean) {
    this.#fail = fail;
    this.#snapshotsLag = snapshotsLag;
  }

  get #visitors(): Set<string> {
    return new Set([...this.#sketch, ...[...this.#buckets.values()].flat()]);
  }

  /**
   * A visitor comes. The returned function is called once the call has returned: then the visitor is counted. After a reset a
   * client may not know yet that it has to count a visitor again.
   */
  begin(visitor: string): () => void {
    const hash = createHash("sha256").update(visitor).digest("hex").slice(0, VISITOR_HASH_DIGITS);
    return () => {
      if (!this.#isReset && !this.#isDeleted && !this.#visitors.has(hash))
        this.#fail("I10", `${visitor} was acknowledged, but is not counted`);
    };
  }

  /** @param kind  what the process may do */
  onCommit(process: Process, changes: readonly Change[], kind: string | undefined): void {
    const own = changes.filter(({ after }) => after.path === COUNTER || after.path.startsWith(`${COUNTER}/`));
    if (own.length === 0) return;
    const [before, uniques] = [this.#visitors, this.#uniques];
    for (const { after } of own) {
      if (after.path.startsWith(`${uniquesPath(COUNTER)}/`)) this.#buckets.set(after.path, hashesIn(after.fields));
      if (after.path === sketchPath(COUNTER)) this.#sketch = after.fields ? hashesOf(after.fields) : [];
      if (after.path === COUNTER) this.#uniques = Number(after.fields?.uniques ?? 0);
    }
    this.#isReset ||= kind === "reset";
    if (kind === "reset") for (const hash of before) this.#forgotten.add(hash);
    this.#isDeleted ||= kind === "delete";
    // A merge may still be under way, and bring back the visitors of a deleted counter.
    if (this.#isDeleted || kind === "reset") return;
    const now = this.#visitors;
    const lost = [...before].filter((hash) => !now.has(hash));
    if (lost.length > 0) this.#fail("I10", `${process.name} loses the visitors ${lost}`);
    // Where snapshots lag, a merge may list buckets that a reset has deleted.
    const isLate = (hash: string) => this.#snapshotsLag && this.#forgotten.has(hash);
    const added = [...now].filter((hash) => !before.has(hash) && !isLate(hash));
    if (added.length > 0 && kind === "none") this.#fail("I10", `${process.name} makes up the visitors ${added}`);
    if (this.#uniques < uniques) this.#fail("I10", `${process.name} publishes fewer visitors`);
  }

  /** Everything was delivered. */
  atEnd(): void {
    if (this.#isDeleted) return;
    const waiting = [...this.#buckets.values()].flat();
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
