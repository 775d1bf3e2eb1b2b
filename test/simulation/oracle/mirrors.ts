/** Fields of the app's own documents that show totals: they say what is published, and no document is made for it. */
import type { Change } from "../model/database.ts";
import type { Fields, Micros } from "../model/values.ts";
import { POSTS } from "../scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** Which counter a page mirrors. */
const MIRRORED: Record<string, string> = { "pages/a": "views:a", "pages/home": POSTS };

function mirrored(fields: Fields | undefined): unknown {
  return fields?.posts ?? (fields?.stats as Fields | undefined)?.views;
}

/** For how long a document may be new to a publish that is under way. */
const NEW = 120_000_000;

export class Mirrors {
  readonly #fail: Fail;
  /** Since when each page exists, and what it says. */
  readonly #pages = new Map<string, { since: Micros; says: unknown }>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  /** A mirror says what is published in the same commit, and nobody but the app creates its document. */
  wrote(process: Process, { before, after }: Change, changes: readonly Change[], isBackend: boolean): void {
    const { path, fields, updateTime } = after;
    const since = this.#pages.get(path)?.since ?? updateTime;
    if (fields) this.#pages.set(path, { since, says: mirrored(fields) });
    else this.#pages.delete(path);
    if (!isBackend) return;
    const published = changes.find((change) => change.after.path === `counters/${MIRRORED[path]}`)?.after.fields?.total;
    if (!before.fields || mirrored(fields) !== published) {
      this.#fail("I1", `${process.name} makes ${path} say ${mirrored(fields)} where ${published} is published`);
    }
  }

  /** A total that is new is in the mirror with it, unless the page is so new that the publish had tried without it. */
  published(counter: string, total: unknown, time: Micros): void {
    const [page = ""] = Object.entries(MIRRORED).find(([, name]) => name === counter) ?? [];
    const known = this.#pages.get(page);
    if (!known || time - known.since < NEW || known.says === total) return;
    this.#fail("I1", `${counter} says ${total}, its mirror ${known.says}`);
  }
}
