/**
 * Top items (I13): an item counts as often as the events that were committed with it. After each commit, what waits and what is merged
 * make up the sum of the shards, since all events of this counter have items. The backend moves counts from the one to the
 * other, and changes none. Each event also has an item of its own, which counts once.
 */
import { ItemSummary, itemCountsPath, itemSummaryPath, shardsPath, topItemsPath } from "../../../core/src/index.ts";
import type { Change } from "../model/database.ts";
import { type Fields, type Micros, microsOf } from "../model/values.ts";
import { SEARCHED } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

const COUNTER = `counters/${SEARCHED}`;

export class TopItemsCheck {
  readonly #fail: Fail;
  readonly #snapshotsLag: boolean;
  readonly #waiting = new Map<string, { readonly summary: ItemSummary; readonly createdAt: Micros }>();
  #summary = new ItemSummary();
  #published: Fields | undefined;
  /** The sum of the shards. */
  #sum = 0;
  #resetAt: Micros = 0;

  constructor(fail: Fail, snapshotsLag: boolean) {
    this.#fail = fail;
    this.#snapshotsLag = snapshotsLag;
  }

  /** What is merged, and what will be. */
  get #counts(): ItemSummary {
    const counts = new ItemSummary();
    counts.merge(this.#summary);
    for (const { summary, createdAt } of this.#waiting.values()) {
      if (createdAt > this.#resetAt) counts.merge(summary);
    }
    return counts;
  }

  /** Events are sent. The returned function is called once the call has returned: then each of them counts, until a reset. */
  begin(events: readonly string[]): () => void {
    return () => {
      const counts = new Map(this.#counts.top(1_000).map(({ item, count }) => [item, count]));
      const lost = events.filter((event) => !counts.has(event));
      if (lost.length > 0 && this.#resetAt === 0) this.#fail("I13", `${lost} are acknowledged, but do not count`);
    };
  }

  /** @param kind  what the process may do */
  onCommit(process: Process, changes: readonly Change[], kind: string | undefined): void {
    const own = changes.filter(({ after }) => after.path.startsWith(`${COUNTER}/`));
    if (own.length === 0) return;
    const before = this.#counts;
    for (const change of own) this.#follow(change);
    const now = this.#counts;
    if (kind === "none" && !isSame(before, now)) this.#fail("I13", `${process.name} changes counts of items`);
    const twice = now.top(1_000).filter(({ item, count }) => item.startsWith("event") && count > 1);
    if (twice.length > 0) this.#fail("I13", `${process.name} counts ${twice.map(({ item }) => item)} twice`);
    // Where snapshots lag, a reset may list the shards of an earlier instant than it says.
    if (this.#snapshotsLag && this.#resetAt > 0) return;
    if (now.total !== this.#sum) this.#fail("I13", `${now.total} of ${this.#sum} are counted by item`);
  }

  #follow({ before, after }: Change): void {
    const { path, fields, updateTime } = after;
    if (path.startsWith(`${itemCountsPath(COUNTER)}/`)) {
      if (fields) this.#waiting.set(path, { summary: summaryIn(fields), createdAt: updateTime });
      else this.#waiting.delete(path);
    }
    if (path === itemSummaryPath(COUNTER)) {
      this.#summary = summaryIn(fields);
      this.#resetAt = microsOf(fields?.resetAt) || 0;
    }
    if (path === topItemsPath(COUNTER)) this.#published = fields;
    if (path.startsWith(`${shardsPath(COUNTER)}/`)) {
      this.#sum += Number(fields?.count ?? 0) - Number(before.fields?.count ?? 0);
    }
  }

  /** Everything was delivered. */
  atEnd(): void {
    if (this.#waiting.size > 0) this.#fail("I13", `${this.#waiting.size} commits' items wait for ever`);
    const { top = [], total = 0 } = (this.#published ?? {}) as { top?: readonly object[]; total?: number };
    const wanted = this.#summary.top(100);
    if (total !== this.#summary.total || JSON.stringify(top) !== JSON.stringify(wanted))
      this.#fail("I13", `the published items are ${JSON.stringify(top)} instead of ${JSON.stringify(wanted)}`);
  }
}

function summaryIn(fields: Fields | undefined): ItemSummary {
  return fields?.bytes ? ItemSummary.parse(fields.bytes as Uint8Array) : new ItemSummary();
}

function isSame(one: ItemSummary, other: ItemSummary): boolean {
  return Buffer.compare(one.serialize(), other.serialize()) === 0;
}
