/**
 * What must hold whatever happens: a plain sum beside the database, held against every commit as it is made. The numbers
 * are those of the invariants in `docs/architecture.md`.
 */
import type { Config } from "../../functions/src/config.ts";
import { publishInterval } from "../../functions/src/interval.ts";
import type { Change } from "./model/database.ts";
import type { Commit } from "./model/network.ts";
import { isKeyed } from "./model/rules.ts";
import { type Fields, type Micros, Timestamp } from "./model/values.ts";
import { ORDERS, POSTS, type Scenario } from "./scenario.ts";
import type { Process } from "./scheduler.ts";

/** An invariant does not hold. */
export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

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

/** What a process was asked to add to a counter, and what has come of it. */
class Ledger {
  landed = 0;
  acknowledged = 0;
  readonly unknown = new Set<{ by: number }>();
}

/** The mark of a client's write. */
interface Mark {
  readonly process: Process;
  readonly counter: string;
  readonly by: number;
  isGone: boolean;
}

/** For how long a document may be new to a publish that is under way. */
const NEW = 120_000_000;

interface Track {
  /** After each commit, by how much the documents of its source are more than its sum. Of a counter that has a source. */
  readonly drifts: { readonly time: Micros; readonly drift: number }[];
  /** The sum of the shards after each commit, oldest first; of a counted collection, how many documents there are. */
  readonly sums: { readonly time: Micros; readonly sum: number }[];
  entries: number;
  /** The oldest write since the last publish, and the newest at all. */
  oldestUncovered: Micros | undefined;
  newest: Micros;
  /** The total as published. */
  says: unknown;
  lastReset: Micros;
  readonly ledgers: Map<Process, Ledger>;
}

export class Oracle {
  readonly #config: Config;
  /** Nothing goes wrong in this run, so totals must be fresh. */
  readonly #isCalm: boolean;
  readonly #margin: Micros;
  readonly #onViolation: (violation: Violation) => void;
  readonly #intents = new Map<Process, Intent>();
  readonly #tracks = new Map<string, Track>();
  #lastCorrection: Micros = 0;
  /** The operators whose reset was committed. */
  readonly #resets = new Set<Process>();
  /** The sum of the shards of the counter of a collection. */
  #held = 0;
  /** Since when each page exists, and what it says. */
  readonly #pages = new Map<string, { since: Micros; says: unknown }>();
  readonly #marks = new Map<string, Mark>();
  /** Replays that counted again, or were reported as refused, because their mark had gone: what 32 marks cannot tell. */
  unrecognized = 0;
  /** The first thing that did not hold. */
  violation: Violation | undefined;

  constructor({ config, faults, latency, margin }: Scenario, onViolation: (violation: Violation) => void) {
    this.#config = config;
    this.#isCalm = faults.length === 0 && latency < 10_000;
    this.#margin = margin;
    this.#onViolation = onViolation;
  }

  expect(process: Process, intent: Intent): void {
    this.#intents.set(process, intent);
  }

  /** A process is asked to add something. @returns to be called when it says that it counts */
  ask(process: Process, counter: string, by: number): () => void {
    const ledger = this.#ledger(counter, process);
    const asked = { by };
    ledger.unknown.add(asked);
    return () => {
      ledger.unknown.delete(asked);
      ledger.acknowledged += by;
    };
  }

  /** An operator was told that a reset is done. */
  resetDone(process: Process): void {
    if (!this.#resets.has(process)) this.fail("I5", `${process.name} is done, but nothing was reset`);
  }

  /** An operator was told by how much a counter had drifted, and whether that was corrected. */
  reconcileDone(process: Process, said: { drift: number; corrected: boolean; asOf: { toMicros(): Micros } }): void {
    if (this.#margin > 0) return;
    const drift = this.#driftAt(said.asOf.toMicros());
    if (said.drift !== drift || said.corrected !== (drift !== 0)) {
      this.fail("I5", `${process.name} says ${JSON.stringify(said)}, but ${ORDERS.counter} had drifted by ${drift}`);
    }
  }

  onCommit({ process, time, changes }: Commit): void {
    const added = new Map<string, number>();
    let orders = 0;
    for (const { before, after } of changes) {
      if (after.path.startsWith(`${ORDERS.collection}/`)) orders += Number(!!after.fields) - Number(!!before.fields);
      if (after.path.startsWith(`${POSTS}/`)) this.#followPost(Number(!!after.fields) - Number(!!before.fields), time);
      if (after.path.startsWith("pages/")) this.#judgePage(process, { before, after }, changes);
      const [root, counter = "", collection] = after.path.split("/");
      if (counter === POSTS && collection === "shards") this.#held += countOf(after.fields) - countOf(before.fields);
      if (root !== this.#config.collection || counter === POSTS) continue;
      const track = this.#track(counter);
      if (collection === "shards") {
        const by = countOf(after.fields) - countOf(before.fields);
        added.set(counter, (added.get(counter) ?? 0) + by);
        if (this.#followMarks(before.fields, after.fields, { process, counter, by }) && !isKeyed(counter)) {
          this.unrecognized++;
          this.#ledger(counter, process).landed -= by;
        }
        if (after.fields) {
          track.newest = time;
          track.oldestUncovered ??= time;
        }
      }
      if (collection === "entries") track.entries += amountOf(after.fields) - amountOf(before.fields);
    }
    for (const [counter, by] of added) {
      const track = this.#track(counter);
      track.sums.push({ time, sum: (track.sums.at(-1)?.sum ?? 0) + by });
      this.#judgeShards(process, counter, by, time);
    }
    this.#judgeOrders(process, orders - (added.get(ORDERS.counter) ?? 0), time, changes);
    for (const change of changes) {
      if (isCounter(change.after.path, this.#config)) this.#judgePublish(change, time);
    }
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

  /** A counter that is reconciled by schedule has not drifted. */
  reconciled(): void {
    const drift = this.#track(ORDERS.counter).drifts.at(-1)?.drift ?? 0;
    if (drift !== 0) this.fail("I5", `${ORDERS.counter} is reconciled by schedule, but has drifted by ${drift}`);
  }

  /** Nobody does anything any more: every increment counted exactly as often as its caller was told. */
  atEnd(): void {
    for (const [counter, { ledgers }] of this.#tracks) {
      for (const [process, { landed, acknowledged, unknown }] of ledgers) {
        const extra = landed - acknowledged;
        if (unknown.size > 0 && !process.isDead) {
          this.fail("answers", `${process.name} never heard what came of its increments of ${counter}`);
        }
        if (!subsetSums([...unknown].map(({ by }) => by)).has(extra)) {
          const open = [...unknown].map(({ by }) => by).join(", ") || "nothing";
          this.fail(
            "I5",
            `${process.name} added ${landed} to ${counter}; acknowledged: ${acknowledged}, of unknown outcome: ${open}`,
          );
        }
      }
    }
  }

  /**
   * A client was told that its increment was refused. Nobody breaks the rules here, so it is a replay, and the first
   * attempt counted: its mark must have gone before it could be found.
   */
  refused(process: Process, counter: string, by: number): void {
    const marks = [...this.#marks.values()];
    const own = marks.find(
      (mark) => mark.process === process && mark.counter === counter && mark.by === by && mark.isGone,
    );
    if (!own) this.fail("I5", `${process.name} was refused ${by} for ${counter}`);
    else own.isGone = false;
    this.unrecognized++;
  }

  /** @returns whether this is a replay whose mark was overwritten, or folded with its shard, since it was first sent */
  #followMarks(before: Fields | undefined, after: Fields | undefined, write: Omit<Mark, "isGone">): boolean {
    const [old, marks] = [before?.marks ?? {}, after?.marks ?? {}] as [Fields, Fields];
    for (const slot in old) {
      const mark = this.#marks.get(old[slot] as string);
      // A client takes its slots in turn: it does not overwrite its own.
      if (mark && mark.process !== write.process) mark.isGone ||= marks[slot] !== old[slot];
    }
    for (const slot in marks) {
      const nonce = marks[slot] as string;
      if (nonce === old[slot]) continue;
      if (this.#marks.has(nonce)) return true;
      this.#marks.set(nonce, { ...write, isGone: false });
    }
    return false;
  }

  #driftAt(asOf: Micros): number {
    const { drifts } = this.#track(ORDERS.counter);
    return drifts.filter(({ time }) => time <= asOf).at(-1)?.drift ?? 0;
  }

  /** Documents and increments of one commit are no drift; a correction makes up for the drift of one instant, once. */
  #judgeOrders(process: Process, by: number, time: Micros, changes: readonly Change[]): void {
    const { drifts } = this.#track(ORDERS.counter);
    const before = drifts.at(-1)?.drift ?? 0;
    if (by !== 0) drifts.push({ time, drift: before + by });
    const correction = changes.find(({ after }) => after.path.startsWith(`counters/${ORDERS.counter}/corrections/`));
    if (!correction) {
      if (by !== 0 && this.#intents.get(process)?.kind !== "anything") {
        this.fail("I5", `${process.name} made ${ORDERS.counter} drift by ${by}`);
      }
      return;
    }
    if (this.#margin > 0) return;
    const asOf = microsOf(correction.after.fields?.asOf);
    const drift = this.#driftAt(asOf);
    if (by !== -drift || asOf <= this.#lastCorrection) {
      this.fail(
        "I5",
        `${process.name} corrected ${ORDERS.counter} by ${-by}; as of ${asOf} it had drifted by ${drift}`,
      );
    }
    this.#lastCorrection = time;
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
    if (intent.kind === "increments" && !isKeyed(counter)) this.#ledger(counter, process).landed += by;
    if (isKeyed(counter) && sum !== track.entries) {
      this.fail("I8", `${counter} has ${track.entries} in entries, but ${sum} in shards`);
    }
  }

  #followPost(by: number, time: Micros): void {
    if (by === 0) return;
    const track = this.#track(POSTS);
    const sum = (track.sums.at(-1)?.sum ?? 0) + by;
    track.sums.push({ time, sum });
    track.newest = time;
    track.oldestUncovered = sum === track.says ? undefined : (track.oldestUncovered ?? time);
  }

  /** A mirror says what is published in the same commit, and nobody but the app creates its document. */
  #judgePage(process: Process, { before, after }: Change, changes: readonly Change[]): void {
    const { path, fields, updateTime } = after;
    const since = this.#pages.get(path)?.since ?? updateTime;
    if (fields) this.#pages.set(path, { since, says: mirrored(fields) });
    else this.#pages.delete(path);
    if (this.#intents.get(process)?.kind !== "none") return;
    const published = changes.find((change) => change.after.path === `counters/${MIRRORED[path]}`)?.after.fields?.total;
    if (!before.fields || mirrored(fields) !== published) {
      this.fail("I1", `${path} is made to say ${mirrored(fields)} where ${published} is published`);
    }
  }

  /** A total that is new is in the mirror with it, unless the page is so new that the publish had tried without it. */
  #judgeMirror(counter: string, total: unknown, time: Micros): void {
    const [page = ""] = Object.entries(MIRRORED).find(([, name]) => name === counter) ?? [];
    const known = this.#pages.get(page);
    if (!known || time - known.since < NEW || known.says === total) return;
    this.fail("I1", `${counter} says ${total}, its mirror ${known.says}`);
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
    if (fields.total !== previous?.total) this.#judgeMirror(counter, fields.total, time);
    if (previous?.asOf) {
      const gap = (asOf - microsOf(previous.asOf)) / 1_000;
      if (gap < 0 || Number(fields.writes) < Number(previous.writes)) {
        this.fail("I3", `${counter} goes back: asOf by ${-gap} ms, writes from ${previous.writes} to ${fields.writes}`);
      }
      const interval = Math.max(publishInterval(previous as never, this.#config), this.#config.minInterval);
      if (gap < interval - 0.001) this.fail("I4", `${counter} published ${gap} ms after the last, not ${interval}`);
    }
    track.says = fields.total;
    const since = track.oldestUncovered;
    if (since !== undefined && since <= asOf) {
      const age = (time - since) / 1_000;
      const oldest = this.#config.maxInterval + this.#config.minInterval + 1_000;
      if (this.#isCalm && age > oldest) this.fail("I2", `a write to ${counter} was published only after ${age} ms`);
      track.oldestUncovered = asOf < track.newest ? track.sums.find(({ time: at }) => at > asOf)?.time : undefined;
    }
  }

  /** The first counts. */
  fail(invariant: string, message: string): void {
    if (this.violation) return;
    this.violation = new Violation(invariant, message);
    this.#onViolation(this.violation);
  }

  #ledger(counter: string, process: Process): Ledger {
    const { ledgers } = this.#track(counter);
    let ledger = ledgers.get(process);
    if (!ledger) {
      ledger = new Ledger();
      ledgers.set(process, ledger);
    }
    return ledger;
  }

  #track(counter: string): Track {
    let track = this.#tracks.get(counter);
    if (!track) {
      track = {
        drifts: [],
        sums: [],
        entries: 0,
        oldestUncovered: undefined,
        newest: 0,
        says: undefined,
        lastReset: 0,
        ledgers: new Map(),
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

/** Which counter a page mirrors. */
const MIRRORED: Record<string, string> = { "pages/a": "views:a", "pages/home": POSTS };

function mirrored(fields: Fields | undefined): unknown {
  return fields?.posts ?? (fields?.stats as Fields | undefined)?.views;
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

function microsOf(value: unknown): Micros {
  return value instanceof Timestamp ? value.toMicros() : Number.NaN;
}

function subsetSums(amounts: readonly number[]): Set<number> {
  let sums = new Set([0]);
  for (const by of amounts) sums = new Set([...sums, ...[...sums].map((sum) => sum + by)]);
  return sums;
}
