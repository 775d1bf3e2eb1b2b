/**
 * The move from Google's counter: what a field is worth changes by increments alone (I9). Neither the bridge, nor a
 * publish, an import or a rollback, nor Google's functions change it, and in the end the field shows it.
 */
import type { Change, Version } from "../model/database.ts";
import { type Fields, isMap, type Value } from "../model/values.ts";
import { BRIDGED } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** What a document adds to the worth of the field. The field and its counter are compared with each other instead. */
function worthOf({ path, fields }: Version): number {
  if (path.startsWith(`counters/${BRIDGED.counter}/shards/`)) return numberIn(fields, "count");
  return pendingIn({ path, fields });
}

/** What a shard of Google's counter holds; 0 for other documents. */
export function pendingIn({ path, fields }: Pick<Version, "path" | "fields">): number {
  if (!path.startsWith(`${BRIDGED.document}/`)) return 0;
  const updates = (fields?._updates_ ?? []) as readonly Fields[];
  return updates.reduce((sum, { _data_ }) => sum + numberIn(_data_, BRIDGED.field), numberIn(fields, BRIDGED.field));
}

function numberIn(fields: Value | undefined, field: string): number {
  return Number((isMap(fields) && fields[field]) || 0);
}

export class BridgeCheck {
  readonly #fail: Fail;
  #shards = 0;
  #mirrored = 0;
  #field: number | undefined;

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  /** A field that is gone has nothing beyond what its counter knows. */
  get #worth(): number {
    return this.#shards + (this.#field === undefined ? 0 : this.#field - this.#mirrored);
  }

  /** @param isMove  whether the process may only move amounts from one place to another */
  onCommit(process: Process, changes: readonly Change[], isMove: boolean): void {
    const before = this.#worth;
    for (const change of changes) {
      const { path, fields } = change.after;
      this.#shards += worthOf(change.after) - worthOf(change.before);
      if (path === `counters/${BRIDGED.counter}`) this.#mirrored = numberIn(fields, "mirrored");
      if (path === BRIDGED.document) this.#field = fields?.[BRIDGED.field] as number | undefined;
    }
    const by = this.#worth - before;
    // An import may have seen a field that was removed before the commit.
    if (this.#field === undefined) return;
    if (isMove && by !== 0) this.#fail("I9", `${process.name} changes what ${BRIDGED.document} is worth by ${by}`);
  }

  /** Everything was delivered, and the totals were imported. */
  atEnd(get: (path: string) => Fields | undefined, pending: number): void {
    const shown = get(BRIDGED.document)?.[BRIDGED.field];
    if (shown === undefined) return;
    const total = get(`counters/${BRIDGED.counter}`)?.total ?? 0;
    if (shown !== this.#worth || total !== this.#worth || pending > 0) {
      const found = `shows ${shown}, its counter ${total}, and ${pending} shards are pending`;
      this.#fail("I9", `${BRIDGED.document} is worth ${this.#worth}, but ${found}`);
    }
  }
}
