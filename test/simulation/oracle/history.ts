/**
 * The history of counters. The first publish of a later hour stores the state that it replaces, in the same commit. So does
 * the first publish of a later minute, if the counter was busy in the stored minute, and the first of a later day of the time
 * zone. Nothing else changes the history.
 */

import { isSparse } from "../../../functions/src/counter/interval.ts";
import type { Settings } from "../../../functions/src/shared/feature.ts";
import { isIn } from "../../../functions/src/shared/groups.ts";
import type { Change, Version } from "../model/database.ts";
import { type Fields, isEqual, microsOf, type Value } from "../model/values.ts";
import { OFFSETS } from "../scenario/scenario.ts";
import type { Fail } from "./violation.ts";

const STEP_MICROS = { minute: 60_000_000, hour: 3_600_000_000, day: 86_400_000_000 };
const POINT_FIELDS = ["total", "writes", "rate", "shardCount", "publishes", "asOf", "windows"];

export class HistoryCheck {
  readonly #config: Settings;
  readonly #fail: Fail;
  readonly #leftOut: ReadonlySet<string>;
  /** The last minute in which each counter was busy. */
  readonly #lastBusyMinute = new Map<string, number>();
  /** What each point holds. Points may outlive their counter, if they are stored while it is deleted. */
  readonly #points = new Map<string, Value>();

  /** @param leftOut  the counters whose history the functions have failed to write */
  constructor(config: Settings, fail: Fail, leftOut: ReadonlySet<string>) {
    this.#config = config;
    this.#fail = fail;
    this.#leftOut = leftOut;
  }

  /** A counter was deleted, and its history with it. */
  forget(counter: string): void {
    this.#lastBusyMinute.delete(counter);
  }

  onCommit(changes: readonly Change[]): void {
    const due = new Map<string, Fields>();
    for (const change of changes) this.#followPublish(change, due);
    for (const { before, after } of changes) {
      const [root, counter = "", collection, id = ""] = after.path.split("/");
      if (root !== this.#config.collection || collection !== "tallyHistory") continue;
      const [old, now] = [pointsOf(before.fields), pointsOf(after.fields)];
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
        if (isEqual(old[key], now[key])) continue;
        const name = nameOf(counter, id, key);
        // After a publish without it, a point may be of a minute that was sparse.
        if (!now[key] || !(isEqual(now[key], due.get(name)) || this.#leftOut.has(counter)))
          this.#fail("history", `${name} becomes ${JSON.stringify(now[key])} without a publish of that state`);
        if (now[key]) this.#points.set(name, now[key]);
        due.delete(name);
      }
    }
    for (const [name, state] of due) {
      // Storing the same state again is no change.
      if (!isEqual(this.#points.get(name), state) && !this.#leftOut.has(name.slice(name.indexOf(" of ") + 4)))
        this.#fail("history", `${name} is over, but has no point`);
    }
  }

  /** Adds to `due` the points that a publish must store. */
  #followPublish({ before, after }: Change, due: Map<string, Fields>): void {
    const [root, counter = "", collection] = after.path.split("/");
    if (root !== this.#config.collection || collection !== undefined || !after.fields?.asOf) return;
    if (!isIn(this.#config.history.groups, counter)) return;
    const [then, now] = [before.fields?.asOf, after.fields.asOf].map(microsOf) as [number, number];
    if (then < now) {
      const isBusy = this.#lastBusyMinute.get(counter) === Math.floor(then / STEP_MICROS.minute);
      for (const step of ["minute", "hour"] as const) {
        const [last, next] = [then, now].map((at) => Math.floor(at / STEP_MICROS[step]));
        if (last !== next && (step === "hour" || isBusy)) due.set(`${step} ${last} of ${counter}`, stateOf(before));
      }
      const ahead = (OFFSETS[this.#config.windows.timeZone] ?? 0) * STEP_MICROS.minute;
      const [lastDay, nextDay] = [then, now].map((at) => Math.floor((at + ahead) / STEP_MICROS.day));
      const [lastHour, nextHour] = [then, now].map((at) => Math.floor(at / STEP_MICROS.hour));
      if (lastDay !== nextDay && lastHour === nextHour) due.set(`hour ${lastHour}-day of ${counter}`, stateOf(before));
    }
    if (!isSparse(Number(after.fields.rate), this.#config))
      this.#lastBusyMinute.set(counter, Math.floor(now / STEP_MICROS.minute));
  }
}

function stateOf({ fields }: Version): Fields {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([field]) => POINT_FIELDS.includes(field)));
}

function pointsOf(fields: Fields | undefined): Fields {
  return (fields?.points ?? {}) as Fields;
}

/** The document `minutes-2026-01-01T00` and the key `05` name minute 29454245; `hours-2026-01-01` and `00-day`, hour 490904-day. */
function nameOf(counter: string, id: string, key: string): string {
  const [, step = "", time = ""] = /^(minute|hour)s-(.*)$/.exec(id) ?? [];
  const [first, rest = ""] = [key.slice(0, 2), key.slice(2)];
  const at = Date.parse(step === "minute" ? `${time}:${first}Z` : `${time}T${first}:00Z`) * 1_000;
  return `${step} ${at / STEP_MICROS[step as keyof typeof STEP_MICROS]}${rest} of ${counter}`;
}
