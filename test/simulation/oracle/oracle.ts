/**
 * What must hold whatever happens: a plain sum beside the database, held against every commit as it is made. The numbers
 * are those of the invariants in `docs/architecture.md`.
 */
import type { Config } from "../../../functions/src/config.ts";
import { publishInterval } from "../../../functions/src/interval.ts";
import type { Change } from "../model/database.ts";
import type { Commit } from "../model/network.ts";
import { isKeyed } from "../model/rules.ts";
import { type Fields, type Micros, microsOf } from "../model/values.ts";
import { ORDERS, POSTS, type Scenario } from "../scenario.ts";
import type { Process } from "../scheduler.ts";
import { Drifts } from "./drifts.ts";
import { Histories } from "./histories.ts";
import { Increments } from "./increments.ts";
import { Mirrors } from "./mirrors.ts";
import { type Fail, Violation } from "./violation.ts";

/** What a commit of a process may do to the sum of a counter's shards. */
export type Intent =
  /** Nothing: it is the backend. */
  | { readonly kind: "none" }
  /** It is not Tally's: whatever it adds is right. */
  | { readonly kind: "anything" }
  /** Whatever it adds is held against what it was asked to add. */
  | { readonly kind: "increments" }
  /** Sets the sum as of an instant since it was asked to. */
  | { readonly kind: "reset"; readonly to: number; readonly since: Micros }
  /** Starts the counter. */
  | { readonly kind: "ensure"; readonly initial: number };

interface Track {
  /** The sum of the shards after each commit, oldest first; of a counted collection, how many documents there are. */
  readonly sums: { readonly time: Micros; readonly sum: number; readonly isPrompt: boolean }[];
  entries: number;
  /** The oldest write since the last publish that must be seen soon, and the newest at all. */
  oldestUncovered: Micros | undefined;
  newest: Micros;
  /** The total as published, and over how many shards writers should spread. */
  says: unknown;
  shardCount: number;
  lastReset: Micros;
}

export class Oracle {
  readonly #config: Config;
  /** Nothing goes wrong in this run, so totals must be fresh. */
  readonly #isCalm: boolean;
  readonly #margin: Micros;
  readonly #onViolation: (violation: Violation) => void;
  readonly #intents = new Map<Process, Intent>();
  readonly #tracks = new Map<string, Track>();
  /** The operators whose reset was committed. */
  readonly #resets = new Set<Process>();
  /** The sum of the shards of the counter of a collection. */
  #held = 0;
  readonly increments: Increments;
  readonly drifts: Drifts;
  readonly #mirrors: Mirrors;
  readonly #histories: Histories;
  /** The first thing that did not hold. */
  violation: Violation | undefined;

  constructor({ config, faults, latency, margin }: Scenario, onViolation: (violation: Violation) => void) {
    this.#config = config;
    this.#isCalm = faults.length === 0 && latency < 10_000;
    this.#margin = margin;
    this.#onViolation = onViolation;
    this.increments = new Increments(this.fail);
    this.drifts = new Drifts(this.fail, margin);
    this.#mirrors = new Mirrors(this.fail);
    this.#histories = new Histories(config, this.fail);
  }

  expect(process: Process, intent: Intent): void {
    this.#intents.set(process, intent);
  }

  /** An operator was told that a reset is done. */
  resetDone(process: Process): void {
    if (!this.#resets.has(process)) this.fail("I5", `${process.name} is done, but nothing was reset`);
  }

  onCommit({ process, time, changes }: Commit): void {
    const added = new Map<string, { by: number; isPrompt: boolean }>();
    const kind = this.#intents.get(process)?.kind;
    let orders = 0;
    for (const { before, after } of changes) {
      if (after.path.startsWith(`${ORDERS.collection}/`)) orders += Number(!!after.fields) - Number(!!before.fields);
      if (after.path.startsWith(`${POSTS}/`)) this.#followPost(Number(!!after.fields) - Number(!!before.fields), time);
      if (after.path.startsWith("pages/")) this.#mirrors.wrote(process, { before, after }, changes, kind === "none");
      const [root, counter = "", collection] = after.path.split("/");
      if (counter === POSTS && collection === "shards") this.#held += countOf(after.fields) - countOf(before.fields);
      if (root !== this.#config.collection || counter === POSTS) continue;
      const track = this.#track(counter);
      if (collection === "shards") {
        const by = countOf(after.fields) - countOf(before.fields);
        // A straggler's write to a shard that is there, beyond those in use, wakes nobody: it may take longer to be seen.
        const isPrompt = !before.fields || !(Number(after.path.split("/")[3]) >= track.shardCount);
        const { by: sofar, isPrompt: was } = added.get(counter) ?? { by: 0, isPrompt: false };
        added.set(counter, { by: sofar + by, isPrompt: was || isPrompt });
        if (!isKeyed(counter)) this.increments.wrote(before.fields, after.fields, { process, counter, by });
        if (after.fields) {
          track.newest = time;
          if (isPrompt) track.oldestUncovered ??= time;
        }
      }
      if (collection === "entries") track.entries += amountOf(after.fields) - amountOf(before.fields);
    }
    for (const [counter, { by, isPrompt }] of added) {
      const track = this.#track(counter);
      track.sums.push({ time, sum: (track.sums.at(-1)?.sum ?? 0) + by, isPrompt });
      this.#judgeShards(process, counter, by, time);
    }
    const drift = orders - (added.get(ORDERS.counter)?.by ?? 0);
    this.drifts.onCommit(process, drift, time, changes, kind === "anything");
    for (const change of changes) {
      if (isCounter(change.after.path, this.#config)) this.#judgePublish(change, time);
    }
    this.#histories.onCommit(changes);
  }

  onTransaction(process: Process, paths: readonly string[]): void {
    if (this.#intents.get(process)?.kind === "none" && paths.some((path) => path.includes("/shards/"))) {
      this.fail("I6", `${process.name} locks ${paths.join(", ")}`);
    }
  }

  /** Every event and task has been delivered: all that was written is published (I2). */
  atRest(published: (counter: string) => Fields | undefined): void {
    for (const [counter, { newest, sums }] of this.#tracks) {
      if (newest === 0) continue;
      const fields = published(counter);
      const sum = sums.at(-1)?.sum ?? 0;
      // Of a collection that was empty again before anybody looked, there is nothing to tell.
      if (!fields?.asOf && counter === POSTS && sum === 0) continue;
      const asOf = microsOf(fields?.asOf);
      // A creation and a deletion may cancel out; then what is published stays true.
      if (asOf < newest && counter !== POSTS)
        this.fail("I2", `${counter} was written at ${newest} but published as of ${asOf}`);
      if (fields?.total !== sum) this.fail("I2", `${counter} says ${fields?.total}, its shards ${sum}`);
      if (counter === POSTS && sum !== this.#held) this.fail("I1", `${counter} says ${sum}, its shards ${this.#held}`);
    }
  }

  #judgeShards(process: Process, counter: string, by: number, time: Micros): void {
    const track = this.#track(counter);
    const sum = track.sums.at(-1)?.sum ?? 0;
    if (counter === ORDERS.counter) return;
    const intent = this.#intents.get(process) ?? { kind: "increments" };
    if (intent.kind === "none" && by !== 0) this.fail("I5", `${process.name} changed the sum of ${counter} by ${by}`);
    if (intent.kind === "ensure" && by !== intent.initial) {
      this.fail("I5", `${process.name} changed the sum of ${counter} by ${by} instead of ${intent.initial}`);
    }
    if (intent.kind === "reset") {
      // As of some instant since it was asked to, and since the last reset; what was added after that instant stays.
      const since = Math.max(intent.since, track.lastReset) - this.#margin;
      const earlier = [{ time: 0, sum: 0 }, ...track.sums.slice(0, -1)];
      const sums = earlier.filter((_, i) => (earlier[i + 1]?.time ?? time) > since).map((one) => one.sum);
      if (!sums.some((before) => before + by === intent.to)) {
        this.fail("I5", `${process.name} changed the sum of ${counter} by ${by} to ${sum}: no reset to ${intent.to}`);
      }
    }
    if (intent.kind === "reset") {
      track.lastReset = time;
      this.#resets.add(process);
    }
    if (intent.kind === "increments" && !isKeyed(counter)) this.increments.landed(process, counter, by);
    if (isKeyed(counter) && sum !== track.entries) {
      this.fail("I8", `${counter} has ${track.entries} in entries, but ${sum} in shards`);
    }
  }

  #followPost(by: number, time: Micros): void {
    if (by === 0) return;
    const track = this.#track(POSTS);
    const sum = (track.sums.at(-1)?.sum ?? 0) + by;
    track.sums.push({ time, sum, isPrompt: true });
    track.newest = time;
    track.oldestUncovered = sum === track.says ? undefined : (track.oldestUncovered ?? time);
  }

  #judgePublish({ before, after }: Change, time: Micros): void {
    const [, counter = ""] = after.path.split("/");
    const track = this.#track(counter);
    const fields = after.fields;
    // Its source may be named before anything is published, and changed in between.
    if (!fields?.asOf || (fields.asOf === before.fields?.asOf && fields.total === before.fields.total)) return;
    const asOf = microsOf(fields.asOf);
    const expected = sumAt(track, asOf);
    // Where snapshots lag, a total may be that of an instant before; only the last word must be right (I2).
    if (fields.total !== expected && this.#margin === 0) {
      this.fail("I1", `${counter} says ${fields.total} as of ${asOf}, its shards said ${expected}`);
    }
    if (asOf > time) this.fail("I1", `${counter} is published at ${time} as of ${asOf}`);
    const { minShards, maxShards } = this.#config;
    const shards = Number(fields.shardCount);
    if (!(shards >= minShards && shards <= maxShards)) this.fail("I5", `${counter} spreads over ${shards} shards`);
    const previous = before.fields;
    if (fields.total !== previous?.total) this.#mirrors.published(counter, fields.total, time);
    if (previous?.asOf) {
      const gap = (asOf - microsOf(previous.asOf)) / 1_000;
      if (gap < 0 || Number(fields.writes) < Number(previous.writes)) {
        this.fail("I3", `${counter} goes back: asOf by ${-gap} ms, writes from ${previous.writes} to ${fields.writes}`);
      }
      const interval = Math.max(publishInterval(previous as never, this.#config), this.#config.minInterval);
      if (gap < interval - 0.001) this.fail("I4", `${counter} published ${gap} ms after the last, not ${interval}`);
    }
    track.says = fields.total;
    track.shardCount = shards;
    const since = track.oldestUncovered;
    if (since !== undefined && since <= asOf) {
      const age = (time - since) / 1_000;
      const oldest = this.#config.maxInterval + this.#config.minInterval + 1_000;
      if (this.#isCalm && age > oldest) this.fail("I2", `a write to ${counter} was published only after ${age} ms`);
      track.oldestUncovered =
        asOf < track.newest ? track.sums.find(({ time: at, isPrompt }) => isPrompt && at > asOf)?.time : undefined;
    }
  }

  readonly fail: Fail = (invariant, message) => {
    if (this.violation) return;
    this.violation = new Violation(invariant, message);
    this.#onViolation(this.violation);
  };

  #track(counter: string): Track {
    let track = this.#tracks.get(counter);
    if (!track) {
      track = {
        sums: [],
        entries: 0,
        oldestUncovered: undefined,
        newest: 0,
        says: undefined,
        shardCount: Number.POSITIVE_INFINITY,
        lastReset: 0,
      };
      this.#tracks.set(counter, track);
    }
    return track;
  }
}

/** Whether a path is a counter document's. */
export function isCounter(path: string, { collection }: Config): boolean {
  return path.startsWith(`${collection}/`) && !path.includes("/", collection.length + 1);
}

function sumAt({ sums }: Track, at: Micros): number {
  for (let i = sums.length - 1; i >= 0; i--) {
    const known = sums[i] as Track["sums"][number];
    if (known.time <= at) return known.sum;
  }
  return 0;
}

function countOf(fields: Fields | undefined): number {
  return Number(fields?.count ?? 0);
}

function amountOf(fields: Fields | undefined): number {
  return Number(fields?.by ?? 0);
}
