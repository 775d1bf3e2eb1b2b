/**
 * What must hold whatever happens: a plain sum beside the database, held against every commit as it is made. The numbers
 * are those of the invariants in `docs/architecture.md`.
 */
import type { Config } from "../../../functions/src/config.ts";
import type { Published } from "../../../functions/src/counterDocument.ts";
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
  | { readonly kind: "ensure"; readonly initial: number }
  /** Deletes the counter and all that belongs to it, in one commit or many. */
  | { readonly kind: "delete" };

interface Track {
  /** The sum of the shards after each commit, oldest first; of a counted collection, how many documents there are. */
  readonly sums: { readonly time: Micros; readonly sum: number }[];
  entries: number;
  /** The writes that are not published yet, and until when they must be if nothing goes wrong; the newest of all. */
  uncovered: { readonly time: Micros; readonly until: Micros; readonly wakes: boolean }[];
  newest: Micros;
  /** Whether the last publish told writers of more than one shard. */
  isWide: boolean;
  /** When the next measurement is scheduled, by the last publish; 0 if none is. */
  nextPollAt: Micros;
  lastReset: Micros;
  /** The creation of each shard. One beyond the shard count is a sign of contention. */
  readonly newShards: { readonly time: Micros; readonly index: number }[];
  /** When each shard that is there was last written, and by how much keyed shards differ from entries. */
  readonly written: Map<string, Micros>;
  skew: number;
  /** The last commit of a deletion, and the newest write that wakes the functions by itself. */
  deletedAt: Micros;
  lastWake: Micros;
}

/** Every write of these shards wakes the functions; of others, the first. */
const WAKING = ["0", "base"];

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

  /** When the last commit of a deletion of a counter was made; 0 if there was none. */
  deletedAt(counter: string): Micros {
    return this.#track(counter).deletedAt;
  }

  /** An operator was told that a reset is done. */
  resetDone(process: Process): void {
    if (!this.#resets.has(process)) this.fail("I5", `${process.name} is done, but nothing was reset`);
  }

  onCommit({ process, time, changes }: Commit): void {
    const added = new Map<string, number>();
    const kind = this.#intents.get(process)?.kind;
    let orders = 0;
    for (const { before, after } of changes) {
      if (after.path.startsWith(`${ORDERS.collection}/`)) orders += Number(!!after.fields) - Number(!!before.fields);
      if (after.path.startsWith(`${POSTS}/`)) this.#followPost(Number(!!after.fields) - Number(!!before.fields), time);
      if (after.path.startsWith("pages/")) this.#mirrors.wrote(process, { before, after }, changes, kind === "none");
      const [root, counter = "", collection, id = ""] = after.path.split("/");
      if (root !== this.#config.collection) continue;
      if (counter === POSTS) {
        // Its total is the number of documents, whatever its shards hold.
        if (collection === "shards" && kind === "none") this.fail("I1", `${process.name} writes ${after.path}`);
        continue;
      }
      const track = this.#track(counter);
      if (collection === "shards") {
        const by = countOf(after.fields) - countOf(before.fields);
        added.set(counter, (added.get(counter) ?? 0) + by);
        const write = { process, counter, by, time };
        if (!isKeyed(counter)) this.increments.wrote({ before, after }, write, kind === "delete");
        const hasCounted = ["count", "writes"].some((field) => before.fields?.[field] !== after.fields?.[field]);
        if (!after.fields) track.written.delete(id);
        else if (!before.fields || hasCounted) {
          track.written.set(id, time);
          if (!before.fields) track.newShards.push({ time, index: /^\d+$/.test(id) ? Number(id) : 0 });
          const wakes = !before.fields || WAKING.includes(id);
          if (wakes) track.lastWake = time;
          this.#demand(track, time, wakes);
        }
      }
      if (collection === "receipts") this.increments.receipt({ before, after }, kind === "delete");
      if (collection === "entries") track.entries += amountOf(after.fields) - amountOf(before.fields);
    }
    for (const [counter, by] of added) {
      const track = this.#track(counter);
      track.sums.push({ time, sum: (track.sums.at(-1)?.sum ?? 0) + by });
      this.#judgeShards(process, counter, by, time);
    }
    if (kind === "delete") {
      this.#followDeletion(changes, time);
      return;
    }
    const drift = orders - (added.get(ORDERS.counter) ?? 0);
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

  /**
   * Every event and task has been delivered: all that was written is published (I2). Of a deleted
   * counter, this is demanded once a write that wakes the functions was committed after the deletion.
   */
  atRest(published: (counter: string) => Fields | undefined): void {
    for (const [counter, track] of this.#tracks) {
      const { sums, deletedAt, lastWake } = track;
      const newest = counter === POSTS ? track.newest : Math.max(0, ...track.written.values());
      if (newest === 0 || (deletedAt > 0 && lastWake <= deletedAt)) continue;
      const fields = published(counter);
      const sum = sums.at(-1)?.sum ?? 0;
      const asOf = microsOf(fields?.asOf);
      if (!(asOf >= newest)) this.fail("I2", `${counter} was written at ${newest} but published as of ${asOf}`);
      if (fields?.total !== sum) this.fail("I2", `${counter} says ${fields?.total}, its shards ${sum}`);
      if (counter === POSTS && fields?.countedCollection !== POSTS)
        this.fail("I1", `${counter} counts ${fields?.countedCollection}`);
    }
  }

  #followDeletion(changes: readonly Change[], time: Micros): void {
    const counters = new Set(changes.map(({ after }) => after.path.split("/")[1] ?? ""));
    for (const counter of counters) {
      const track = this.#track(counter);
      track.deletedAt = time;
      track.skew = (track.sums.at(-1)?.sum ?? 0) - track.entries;
      track.uncovered = [];
      track.nextPollAt = 0;
      track.isWide = false;
      // A reset under way may take the next `base` for the one it has not found: both are new.
      track.lastReset = 0;
    }
    for (const { after } of changes) {
      if (!isCounter(after.path, this.#config)) continue;
      const counter = after.path.slice(this.#config.collection.length + 1);
      this.#histories.forget(counter);
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
    if (intent.kind === "delete") return;
    if (isKeyed(counter) && sum !== track.entries + track.skew) {
      this.fail("I8", `${counter} has ${track.entries} in entries, but ${sum} in shards`);
    }
  }

  #followPost(by: number, time: Micros): void {
    if (by === 0) return;
    const track = this.#track(POSTS);
    const sum = (track.sums.at(-1)?.sum ?? 0) + by;
    track.sums.push({ time, sum });
    this.#demand(track, time, true);
  }

  /**
   * A write that wakes the functions is published soon, and so is any other while writers are told of more than one shard;
   * else it is when the next measurement is due.
   */
  #demand(track: Track, time: Micros, wakes: boolean): void {
    track.newest = time;
    if (!this.#isCalm) return;
    const { minInterval, maxInterval } = this.#config;
    const soon = time + (maxInterval + minInterval) * 1_000;
    const until = wakes || track.isWide ? soon : Math.max(track.nextPollAt, soon);
    track.uncovered.push({ time, until: until + 1_000_000, wakes });
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
      // What is being deleted takes its writes with it.
      const isBack = track.deletedAt < microsOf(previous.asOf) && Number(fields.writes) < Number(previous.writes);
      if (gap < 0 || isBack) {
        this.fail("I3", `${counter} goes back: asOf by ${-gap} ms, writes from ${previous.writes} to ${fields.writes}`);
      }
      const isContended = track.newShards.some(({ time: at, index }) => {
        return at > microsOf(previous.asOf) - this.#margin && index >= Number(previous.shardCount);
      });
      const { total, rate, countReads, growing } = previous as unknown as Published;
      const usual = publishInterval(total, rate, countReads, this.#config);
      const interval = isContended || growing ? this.#config.minInterval : Math.max(usual, this.#config.minInterval);
      if (gap < interval - 0.001) this.fail("I4", `${counter} published ${gap} ms after the last, not ${interval}`);
    }
    track.nextPollAt = microsOf(fields.nextPollAt) || 0;
    const late = track.uncovered.find((write) => write.time <= asOf && write.until < time);
    if (late) this.fail("I2", `a write to ${counter} was published only after ${(time - late.time) / 1_000} ms`);
    track.isWide = shards > 1;
    // What was written while this publish was made is found by the poll that it says.
    const least = track.isWide ? 0 : track.nextPollAt + 1_000_000;
    track.uncovered = track.uncovered
      .filter((write) => write.time > asOf)
      .map((write) => (write.wakes ? write : { ...write, until: Math.max(write.until, least) }));
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
        uncovered: [],
        newest: 0,
        nextPollAt: 0,
        isWide: false,
        lastReset: 0,
        newShards: [],
        written: new Map(),
        skew: 0,
        deletedAt: 0,
        lastWake: 0,
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
