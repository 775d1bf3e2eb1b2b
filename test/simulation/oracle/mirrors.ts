/** Mirrors, which are fields in the app's documents: each has the published total, and publishing creates no document. */
import type { Change } from "../model/database.ts";
import type { Fields, Micros } from "../model/values.ts";
import { POSTS } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** The counter that each page mirrors. */
const MIRRORED: Record<string, string> = { "pages/a": "views:a", "pages/home": POSTS };

function mirroredTotal(fields: Fields | undefined): unknown {
  return fields?.posts ?? (fields?.stats as Fields | undefined)?.views;
}

function pageOf(counter: string): string {
  return Object.entries(MIRRORED).find(([, name]) => name === counter)?.[0] ?? "";
}

/** How long a publish may take. A publish does not write to a page that was created after it began. */
const LONGEST_PUBLISH: Micros = 120_000_000;

export class MirrorCheck {
  readonly #fail: Fail;
  /** Pages that show an old total. */
  readonly #late = new Set<string>();
  readonly #pages = new Map<string, { createdAt: Micros; total: unknown }>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  /** The backend writes a mirror only together with the published total, and only into an existing document. */
  checkWrite(process: Process, { before, after }: Change, changes: readonly Change[], isBackend: boolean): void {
    const { path, fields, updateTime } = after;
    const createdAt = this.#pages.get(path)?.createdAt ?? updateTime;
    const total = mirroredTotal(fields);
    if (fields) this.#pages.set(path, { createdAt, total });
    else this.#pages.delete(path);
    this.#late.delete(path);
    if (!isBackend) return;
    const published = changes.find((change) => change.after.path === `counters/${MIRRORED[path]}`)?.after.fields?.total;
    if (!before.fields || total !== published) {
      this.#fail("I1", `${process.name} writes ${total} into ${path}, but ${published} is published`);
    }
  }

  /**
   * A new total is also in the mirror, unless the page was created while the publish was made. After failures the mirror follows later.
   *
   * @param isLeftOut  whether the functions have failed to write it
   */
  checkPublish(counter: string, total: unknown, time: Micros, isLeftOut: boolean): void {
    const page = pageOf(counter);
    const known = this.#pages.get(page);
    if (!known || time - known.createdAt < LONGEST_PUBLISH || known.total === total)
      return void this.#late.delete(page);
    this.#late.add(page);
    if (!isLeftOut) this.#fail("I1", `${counter} publishes ${total}, its mirror has ${known.total}`);
  }

  /** The counter was deleted. Its mirror keeps the last total. */
  forget(counter: string): void {
    this.#late.delete(pageOf(counter));
  }

  /** Every task has run. */
  atEnd(): void {
    for (const page of this.#late) this.#fail("I1", `the mirror ${page} shows an old total for ever`);
  }
}
