/**
 * The invariants of docs/architecture.md, checked against a plain sum at every commit. Each check of its own (single
 * increments, keys, drift, mirrors, history, freshness) is a file beside this one.
 */
import { publishInterval } from "../../../functions/src/counter/interval.ts";
import { TRIGGER_SHARDS } from "../../../functions/src/counter/shards.ts";
import type { Published } from "../../../functions/src/counter/types.ts";
import type { Settings } from "../../../functions/src/shared/feature.ts";
import type { Change } from "../model/database.ts";
import type { Commit } from "../model/network.ts";
import { countsOncePerUser, isBounded } from "../model/rules.ts";
import { type Fields, isEqual, type Micros, microsOf } from "../model/values.ts";
import { BRIDGED, ORDERS, POSTS, type Scenario } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import { BridgeCheck, pendingIn } from "./bridge.ts";
import { DriftCheck } from "./drift.ts";
import { FreshnessCheck } from "./freshness.ts";
import { HistoryCheck } from "./history.ts";
import { IncrementCheck } from "./increments.ts";
import { Lateness } from "./lateness.ts";
import { MirrorCheck } from "./mirrors.ts";
import { OnceIncrementCheck } from "./onceIncrements.ts";
import { StockCheck } from "./stock.ts";
import { TopItemsCheck } from "./topItems.ts";
import { type Fail, Violation } from "./violation.ts";
import { VisitorCheck } from "./visitors.ts";
import { WindowCheck } from "./windows.ts";

/** What a commit of a process may do to the sum of a counter's shards. */
export type Intent =
  /** The backend leaves the sum as it is. */
  | { readonly kind: "none" }
  /** A write without Tally may add any amount. */
  | { readonly kind: "anything" }
  /** What was there before the functions were. */
  | { readonly kind: "before" }
  /** Increments are compared with the calls of the process. */
  | { readonly kind: "increments" }
  /** Sets the sum as of an instant after the call. */
  | { readonly kind: "reset"; readonly to: number; readonly since: Micros }
  /** Creates the counter. */
  | { readonly kind: "ensure"; readonly initial: number }
  /** Moves amounts between the bridged counter, its field and old shards. */
  | { readonly kind: "move" }
  /** Google's functions move amounts from old shards to the field. */
  | { readonly kind: "legacyMove" }
  /** Deletes the counter with all its documents, in one commit or several. */
  | { readonly kind: "delete" };

interface CounterState {
  /** After each commit, oldest first: the sum of the shards, or the number of documents of a counted collection. */
  readonly sums: { readonly time: Micros; readonly sum: number }[];
  /** The same with the direct increments. */
  readonly totals: { readonly time: Micros; readonly sum: number }[];
  /** The sum of the direct increments. */
  direct: number;
  /** The sum of the entries. */
  entries: number;
  /** The sum of the increments of a counter that counts once per user, less its entries: a deletion in several commits may leave a difference. */
  entryDifference: number;
  newestWrite: Micros;
  newestTriggeringWrite: Micros;
  lastReset: Micros;
  /** The last commit of a deletion. */
  deletedAt: Micros;
  /** The creation of each shard. A shard beyond the shard count is a sign of contention. */
  readonly newShards: { readonly time: Micros; readonly index: number }[];
  /** The last counting write of each shard that exists. */
  readonly shardWrites: Map<string, Micros>;
}

export class Oracle {
  readonly #config: Settings;
  /** Totals must be fresh only in runs without faults. */
  readonly #isFaultless: boolean;
  readonly #snapshotLag: Micros;
  readonly #onViolation: (violation: Violation) => void;
  readonly #intents = new Map<Process, Intent>();
  readonly #counters = new Map<string, CounterState>();
  /** The operators whose reset was committed. */
  readonly #resets = new Set<Process>();
  readonly increments: IncrementCheck;
  readonly onceIncrements: OnceIncrementCheck;
  readonly drift: DriftCheck;
  readonly bridge: BridgeCheck;
  readonly visitors: VisitorCheck;
  readonly stock: StockCheck;
  readonly topItems: TopItemsCheck;
  readonly lateness = new Lateness();
  readonly #windows: WindowCheck;
  readonly mirrors: MirrorCheck;
  readonly #history: HistoryCheck;
  readonly #freshness: FreshnessCheck;
  /** The counters that were published without mirror and history, because these had failed. */
  readonly #leftOut = new Set<string>();
  /** The first violation of the run. */
  violation: Violation | undefined;

  constructor(
    { config, faults, latency, snapshotLag, failing }: Scenario,
    onViolation: (violation: Violation) => void,
  ) {
    this.#config = config;
    this.#isFaultless = faults.length === 0 && latency < 10_000;
    this.#snapshotLag = snapshotLag;
    this.#onViolation = onViolation;
    this.increments = new IncrementCheck(this.fail);
    this.onceIncrements = new OnceIncrementCheck(this.fail, (counter) => this.deletedAt(counter));
    this.drift = new DriftCheck(this.fail, snapshotLag);
    this.bridge = new BridgeCheck(this.fail);
    this.visitors = new VisitorCheck(this.fail, snapshotLag > 0);
    this.stock = new StockCheck(this.fail, snapshotLag);
    this.topItems = new TopItemsCheck(this.fail, snapshotLag > 0);
    this.#windows = new WindowCheck(config, this.fail);
    this.mirrors = new MirrorCheck(this.fail);
    this.#history = new HistoryCheck(config, this.fail, this.#leftOut);
    this.#freshness = new FreshnessCheck(config, this.fail, failing ? 3_000_000 : 1_000_000);
  }

  /** The functions have failed to write its mirror or history, and publish without. */
  leftOut(counter: string): void {
    this.#leftOut.add(counter);
  }

  /** A process without an intent makes increments. */
  setIntent(process: Process, intent: Intent): void {
    this.#intents.set(process, intent);
  }

  /** When the last commit of a deletion of a counter was made; 0 if there was none. */
  deletedAt(counter: string): Micros {
    return this.#state(counter).deletedAt;
  }

  /** A call to reset has returned. */
  checkResetDone(process: Process): void {
    if (!this.#resets.has(process)) this.fail("I5", `the reset of ${process.name} returned, but was not committed`);
  }

  onCommit({ process, time, changes }: Commit): void {
    const added = new Map<string, number>();
    const kind = this.#intents.get(process)?.kind;
    this.bridge.onCommit(process, changes, kind === "none" || kind === "move" || kind === "legacyMove");
    this.visitors.onCommit(process, changes, kind);
    this.topItems.onCommit(process, changes, kind);
    this.stock.onCommit({ process, time, changes }, kind);
    /** What was added to counter documents. */
    const direct = new Map<string, number>();
    let orders = 0;
    for (const { before, after } of changes) {
      const created = Number(!!after.fields) - Number(!!before.fields);
      if (after.path.startsWith(`${ORDERS.collection}/`)) orders += created;
      if (after.path.startsWith(`${POSTS}/`)) this.#followPost(created, time);
      if (after.path.startsWith("pages/"))
        this.mirrors.checkWrite(process, { before, after }, changes, kind === "none");
      const [root, counter = "", collection, id = ""] = after.path.split("/");
      if (root !== this.#config.collection) continue;
      if (counter === POSTS) {
        // The total of a counted collection is its number of documents, so its shards do not matter.
        if (collection === "shards" && kind === "none") this.fail("I1", `${process.name} writes ${after.path}`);
        continue;
      }
      const state = this.#state(counter);
      if (collection === "shards") {
        const by = countOf(after.fields) - countOf(before.fields);
        added.set(counter, (added.get(counter) ?? 0) + by);
        const write = { process, counter, by, time };
        if (!countsOncePerUser(counter) && !isBounded(counter))
          this.increments.followWrite({ before, after }, write, kind === "delete");
        this.#followShard(counter, id, { before, after }, time);
      }
      const by = directOf(after.fields) - directOf(before.fields);
      if (collection === undefined && by !== 0) {
        added.set(counter, (added.get(counter) ?? 0) + by);
        direct.set(counter, by);
        state.direct += by;
        if (kind === "none") this.fail("I5", `${process.name} changes the direct count of ${counter} by ${by}`);
        if (!countsOncePerUser(counter))
          this.increments.followWrite({ before, after }, { process, counter, by, time }, kind === "delete");
      }
      if (collection === "tallyReceipts" && !isBounded(counter))
        this.increments.followReceipt({ before, after }, kind === "delete");
      if (collection === "tallyEntries") state.entries += amountOf(after.fields) - amountOf(before.fields);
    }
    for (const [counter, by] of added) {
      const { sums, totals } = this.#state(counter);
      const inDocument = direct.get(counter) ?? 0;
      sums.push({ time, sum: (sums.at(-1)?.sum ?? 0) + by - inDocument });
      totals.push({ time, sum: (totals.at(-1)?.sum ?? 0) + by });
      this.#checkSum(process, counter, by, time);
      this.#windows.incremented(counter, time, incrementsIn(counter, by, kind, changes));
    }
    if (kind === "move" || kind === "none") this.#windows.incremented(BRIDGED.counter, time, movedIncrements(changes));
    if (kind === "delete") {
      this.#followDeletion(changes, time);
      return;
    }
    const drift = orders - (added.get(ORDERS.counter) ?? 0);
    this.drift.onCommit(process, drift, time, changes, kind === "anything");
    for (const change of changes) {
      if (!isCounter(change.after.path, this.#config)) continue;
      if (kind === "before") this.#freshness.forget(change.after.path.slice(this.#config.collection.length + 1));
      this.#checkPublish(change, time);
    }
    this.#history.onCommit(changes);
  }

  onTransaction(process: Process, paths: readonly string[]): void {
    if (this.#intents.get(process)?.kind === "none" && paths.some((path) => path.includes("/shards/"))) {
      this.fail("I6", `${process.name} locks ${paths.join(", ")}`);
    }
  }

  /**
   * Every event and task was delivered, so every write is published (I2). A deleted counter is checked only if a write that
   * triggers a function was committed after the deletion.
   */
  checkAllPublished(published: (counter: string) => Fields | undefined): void {
    for (const [counter, state] of this.#counters) {
      const { sums, deletedAt, newestTriggeringWrite } = state;
      const newest = counter === POSTS ? state.newestWrite : Math.max(0, ...state.shardWrites.values());
      if (newest === 0 || (deletedAt > 0 && newestTriggeringWrite <= deletedAt)) continue;
      const fields = published(counter);
      const sum = (sums.at(-1)?.sum ?? 0) + directOf(fields);
      const asOf = microsOf(fields?.asOf);
      if (!(asOf >= newest)) this.fail("I2", `${counter} was written at ${newest} but published as of ${asOf}`);
      if (fields?.total !== sum) this.fail("I2", `${counter} has the total ${fields?.total}, its shards sum to ${sum}`);
      if (counter === POSTS && fields?.countedCollection !== POSTS)
        this.fail("I1", `${counter} counts ${fields?.countedCollection}`);
    }
  }

  #followShard(counter: string, id: string, { before, after }: Change, time: Micros): void {
    const { shardWrites, newShards } = this.#state(counter);
    const hasCounted = ["count", "writes"].some((field) => before.fields?.[field] !== after.fields?.[field]);
    const isNew = !before.fields;
    if (!after.fields) {
      shardWrites.delete(id);
    } else if (isNew || hasCounted) {
      shardWrites.set(id, time);
      if (isNew) newShards.push({ time, index: /^\d+$/.test(id) ? Number(id) : 0 });
      this.#followWrite(counter, time, isNew || TRIGGER_SHARDS.includes(id));
    }
  }

  #followPost(created: number, time: Micros): void {
    if (created === 0) return;
    const { sums } = this.#state(POSTS);
    sums.push({ time, sum: (sums.at(-1)?.sum ?? 0) + created });
    this.#windows.incremented(POSTS, time, created);
    this.#followWrite(POSTS, time, true);
  }

  #followWrite(counter: string, time: Micros, triggers: boolean): void {
    const state = this.#state(counter);
    state.newestWrite = time;
    if (triggers) state.newestTriggeringWrite = time;
    this.lateness.followWrite(counter, time);
    if (this.#isFaultless) this.#freshness.followWrite(counter, time, triggers);
  }

  #followDeletion(changes: readonly Change[], time: Micros): void {
    const counters = new Set(changes.map(({ after }) => after.path.split("/")[1] ?? ""));
    for (const counter of counters) {
      const state = this.#state(counter);
      state.deletedAt = time;
      state.entryDifference = (state.totals.at(-1)?.sum ?? 0) - state.entries;
      // A pending reset cannot tell the next `base` from the missing one it has read: both are new.
      state.lastReset = 0;
      this.#freshness.forget(counter);
      this.lateness.forget(counter);
      this.mirrors.forget(counter);
    }
    for (const { after } of changes) {
      if (isCounter(after.path, this.#config))
        this.#history.forget(after.path.slice(this.#config.collection.length + 1));
    }
  }

  /** A commit changed the sum of a counter's shards as the intent of its process allows. */
  #checkSum(process: Process, counter: string, by: number, time: Micros): void {
    // What the bridge moves into a counter was worth as much before (oracle/bridge.ts).
    const intent = this.#intents.get(process) ?? { kind: "increments" };
    if (counter === ORDERS.counter || (counter === BRIDGED.counter && intent.kind !== "increments")) return;
    const state = this.#state(counter);
    const sum = state.totals.at(-1)?.sum ?? 0;
    const changed = `${process.name} changed the sum of ${counter} by ${by}`;
    if (intent.kind === "none" && by !== 0) this.fail("I5", changed);
    // A reservation that follows adds nothing.
    const isReservation = by === 0 && isBounded(counter);
    if (intent.kind === "ensure" && by !== intent.initial && !isReservation)
      this.fail("I5", `${changed} instead of ${intent.initial}`);
    if (intent.kind === "reset") {
      // A reset replaces the sum of one instant after the call and after the last reset. Later increments stay.
      const since = Math.max(intent.since, state.lastReset) - this.#snapshotLag;
      const earlier = [{ time: 0, sum: 0 }, ...state.totals.slice(0, -1)];
      const sums = earlier.filter((_, i) => (earlier[i + 1]?.time ?? time) > since).map((one) => one.sum);
      // Where snapshots lag, the direct increments and those on shards may be of different instants.
      const mayDisagree = this.#snapshotLag > 0 && this.#config.direct;
      if (!mayDisagree && !sums.some((before) => before + by === intent.to)) {
        this.fail("I5", `${changed} to ${sum}, which is no reset to ${intent.to}`);
      }
      state.lastReset = time;
      this.#resets.add(process);
    }
    if (intent.kind === "increments" && !countsOncePerUser(counter) && !isBounded(counter))
      this.increments.committed(process, counter, by);
    if (intent.kind === "delete") return;
    if (countsOncePerUser(counter) && sum !== state.entries + state.entryDifference) {
      this.fail("I8", `the entries of ${counter} sum to ${state.entries}, its increments to ${sum}`);
    }
  }

  #checkPublish({ before, after }: Change, time: Micros): void {
    const [, counter = ""] = after.path.split("/");
    const { asOf: timestamp, total, shardCount } = after.fields ?? {};
    const shardTotal = timestamp ? sumAt(this.#state(counter), microsOf(timestamp)) : 0;
    const exact = shardTotal + directOf(after.fields);
    // Where snapshots lag, a total may be that of an earlier instant. Only the last total must be right (I2).
    const isWritten = timestamp || after.fields?.direct;
    if (isWritten && total !== exact && this.#snapshotLag === 0)
      this.fail(
        "I1",
        `${counter} has ${total} as of ${timestamp && microsOf(timestamp)}, when its increments summed to ${exact}`,
      );
    // A counter's source can be set before its first publish and between publishes.
    if (!timestamp || isEqual(timestamp, before.fields?.asOf)) return;
    const asOf = microsOf(timestamp);
    if (asOf > time) this.fail("I1", `${counter} is published at ${time} as of ${asOf}`);
    const shards = Number(shardCount);
    const { minShards, maxShards } = this.#config;
    if (!(shards >= (isBounded(counter) ? 1 : minShards) && shards <= maxShards))
      this.fail("I5", `${counter} publishes ${shards} shards`);
    const reservation = after.fields?.reservation as Fields | undefined;
    const isReserved = reservation !== undefined && asOf < microsOf(reservation.until);
    if (isReserved && shards < Math.min(Number(reservation.shards), maxShards))
      this.fail("I5", `${counter} publishes ${shards} shards, but ${reservation.shards} are reserved`);
    const previous = before.fields;
    if (this.#snapshotLag === 0 && this.deletedAt(counter) === 0) this.#windows.checkPublish(counter, before, after);
    if (total !== previous?.total) this.mirrors.checkPublish(counter, total, time, this.#leftOut.has(counter));
    if (previous?.asOf) this.#checkOrder(counter, previous, after.fields as Fields);
    this.lateness.published(counter, asOf, time);
    const nextPollAt = microsOf(after.fields?.nextPollAt) || 0;
    if (this.#isFaultless) this.#freshness.checkPublish(counter, { asOf, time, shardCount: shards, nextPollAt });
  }

  /** A publish comes after the previous one (I3), and not too soon (I4). */
  #checkOrder(counter: string, previous: Fields, fields: Fields): void {
    const { deletedAt, newShards } = this.#state(counter);
    const previousAsOf = microsOf(previous.asOf);
    const gap = (microsOf(fields.asOf) - previousAsOf) / 1_000;
    // A deletion in progress removes writes.
    const hasFewerWrites = deletedAt < previousAsOf && Number(fields.writes) < Number(previous.writes);
    if (gap < 0 || hasFewerWrites) {
      const change = `asOf by ${gap} ms, writes from ${previous.writes} to ${fields.writes}`;
      this.fail("I3", `${counter} goes back: ${change}`);
    }
    const isContended = newShards.some(({ time, index }) => {
      return time > previousAsOf - this.#snapshotLag && index >= Number(previous.shardCount);
    });
    const { growing, ...aging } = previous as unknown as Published;
    const collectionCount = { path: "", reads: Number(previous.countReads) };
    const usual = publishInterval({ ...aging, collectionCount }, this.#config);
    const { minInterval } = this.#config;
    const interval = isContended || growing ? minInterval : Math.max(usual, minInterval);
    if (gap < interval - 0.001) this.fail("I4", `${counter} published after ${gap} ms instead of ${interval}`);
  }

  readonly fail: Fail = (invariant, message) => {
    if (this.violation) return;
    this.violation = new Violation(invariant, message);
    this.#onViolation(this.violation);
  };

  #state(counter: string): CounterState {
    let state = this.#counters.get(counter);
    if (!state) {
      state = {
        sums: [],
        totals: [],
        direct: 0,
        entries: 0,
        entryDifference: 0,
        newestWrite: 0,
        newestTriggeringWrite: 0,
        lastReset: 0,
        deletedAt: 0,
        newShards: [],
        shardWrites: new Map(),
      };
      this.#counters.set(counter, state);
    }
    return state;
  }
}

/** Whether a path is a counter document's. */
export function isCounter(path: string, { collection }: Settings): boolean {
  return path.startsWith(`${collection}/`) && !path.includes("/", collection.length + 1);
}

function sumAt({ sums }: CounterState, at: Micros): number {
  return sums.findLast(({ time }) => time <= at)?.sum ?? 0;
}

function directOf(fields: Fields | undefined): number {
  return Number((fields?.direct as Fields | undefined)?.count ?? 0);
}

function countOf(fields: Fields | undefined): number {
  return Number(fields?.count ?? 0);
}

function amountOf(fields: Fields | undefined): number {
  return Number(fields?.by ?? 0);
}

/** The part of what a commit adds to a counter that is increments. What is moved comes from elsewhere. */
function incrementsIn(
  counter: string,
  by: number,
  kind: Intent["kind"] | undefined,
  changes: readonly Change[],
): number {
  const isCorrection = changes.some(({ after }) => after.path.includes("/tallyCorrections/"));
  const isMove = counter === BRIDGED.counter && (kind === "move" || kind === "none");
  return kind === "reset" || kind === "ensure" || kind === "before" || isCorrection || isMove ? 0 : by;
}

/** The increments of old apps that a commit moves into the bridged counter. What it moves from the field may be older. */
function movedIncrements(changes: readonly Change[]): number {
  return changes.reduce((sum, { before, after }) => sum + pendingIn(before) - pendingIn(after), 0);
}
