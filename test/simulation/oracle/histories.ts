/**
 * The history of counters: the first publish of a later hour keeps the state it replaces, and that of a later minute, too,
 * if the counter was busy in the minute; in the very commit. Nothing else ever touches what is kept.
 */
import type { Config } from "../../../functions/src/config.ts";
import { isSparse } from "../../../functions/src/interval.ts";
import type { Change } from "../model/database.ts";
import { type Fields, isEqual, microsOf, type Value } from "../model/values.ts";
import type { Fail } from "./violation.ts";

const LENGTH = { minute: 60_000_000, hour: 3_600_000_000 };
const KEPT = ["total", "writes", "rate", "shardCount", "publishes", "asOf"];

export class Histories {
  readonly #config: Config;
  readonly #fail: Fail;
  /** By counter, the last minute in which it was busy. */
  readonly #busy = new Map<string, number>();

  constructor(config: Config, fail: Fail) {
    this.#config = config;
    this.#fail = fail;
  }

  /** A counter was deleted, and its history with it. */
  forget(counter: string): void {
    this.#busy.delete(counter);
  }

  onCommit(changes: readonly Change[]): void {
    const due = new Map<string, Fields>();
    for (const change of changes) this.#follow(change, due);
    for (const { before, after } of changes) {
      const [root, counter = "", collection, id = ""] = after.path.split("/");
      if (root !== this.#config.collection || collection !== "history") continue;
      const [old, now] = [pointsOf(before.fields), pointsOf(after.fields)];
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
        if (isEqual(old[key], now[key])) continue;
        const name = nameOf(counter, id, key);
        const said = JSON.stringify(now[key]);
        if (!now[key] || !isEqual(now[key], due.get(name)))
          this.#fail("history", `${name} becomes ${said} with no such publish`);
        due.delete(name);
      }
    }
    for (const name of due.keys()) this.#fail("history", `${name} is over, but not kept`);
  }

  /** What is over because of a publish. */
  #follow({ before, after }: Change, due: Map<string, Fields>): void {
    const [root, counter = "", collection] = after.path.split("/");
    if (root !== this.#config.collection || collection !== undefined || !after.fields?.asOf) return;
    const [then, now] = [before.fields?.asOf, after.fields.asOf].map(microsOf) as [number, number];
    if (then < now) {
      const state = Object.fromEntries(KEPT.map((field) => [field, before.fields?.[field] as Value]));
      const isBusy = this.#busy.get(counter) === Math.floor(then / LENGTH.minute);
      for (const step of ["minute", "hour"] as const) {
        const [last, next] = [then, now].map((at) => Math.floor(at / LENGTH[step]));
        if (last !== next && (step === "hour" || isBusy)) due.set(`${step} ${last} of ${counter}`, state);
      }
    }
    if (!isSparse(Number(after.fields.rate), this.#config)) this.#busy.set(counter, Math.floor(now / LENGTH.minute));
  }
}

function pointsOf(fields: Fields | undefined): Fields {
  return (fields?.points ?? {}) as Fields;
}

/** `minutes-2026-01-01T00` and `05` is minute 29454245. */
function nameOf(counter: string, id: string, key: string): string {
  const [, step = "", time = ""] = /^(minute|hour)s-(.*)$/.exec(id) ?? [];
  const at = Date.parse(step === "minute" ? `${time}:${key}Z` : `${time}T${key}:00Z`) * 1_000;
  return `${step} ${at / LENGTH[step as keyof typeof LENGTH]} of ${counter}`;
}
