/**
 * Stock (I12): no shard falls below zero, each unit is in a shard, in an entry or with the server that took it, and a client is
 * told "sold out" only if so few were left at some time during its call. In the end, the units are where clients take them.
 */
import type { Commit } from "../model/network.ts";
import { isBounded } from "../model/rules.ts";
import type { Fields, Micros } from "../model/values.ts";
import { STOCK } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** A pending call. */
interface Call {
  readonly since: Micros;
  /** The `once` of a take, if it had units when the call began. */
  readonly holder?: string | undefined;
}

export class StockCheck {
  readonly #fail: Fail;
  readonly #snapshotLag: Micros;
  /** After each commit, oldest first: the units in all shards, and in the one with most. */
  readonly #history: { readonly time: Micros; readonly units: number; readonly most: number }[] = [
    { time: 0, units: 0, most: 0 },
  ];
  readonly #shards = new Map<string, number>();
  /** `once` → units, of the entries that exist. */
  readonly #entries = new Map<string, number>();
  readonly #calls = new Set<Call>();
  /** The units that calls of servers without `once` have put in or taken, and of those whose outcome is unknown. */
  #acknowledged = 0;
  #committed = 0;
  #isUnknown = false;
  #isDeleted = false;

  /** @param snapshotLag  how far snapshots may lag behind commits */
  constructor(fail: Fail, snapshotLag: Micros) {
    this.#fail = fail;
    this.#snapshotLag = snapshotLag;
  }

  get #units(): number {
    return [...this.#shards.values()].reduce((sum, units) => sum + units, 0);
  }

  onCommit({ process, changes, time }: Commit, kind: string | undefined): void {
    const own = changes.filter(({ after }) => isBounded(after.path.split("/")[1] ?? ""));
    const before = this.#units;
    let [inEntries, hasReceipt] = [0, false];
    for (const { before, after } of own) {
      const [, , collection, id = ""] = after.path.split("/");
      if (collection === "shards") {
        const count = Number(after.fields?.count ?? 0);
        this.#shards.set(id, count);
        if (count < 0) this.#fail("I12", `${process.name} leaves ${count} units in ${after.path}`);
      }
      if (collection === "tallyEntries") {
        inEntries += amountOf(after.fields) - amountOf(before.fields);
        if (after.fields) this.#entries.set(id, amountOf(after.fields));
        else this.#entries.delete(id);
      }
      hasReceipt ||= collection === "tallyReceipts" && !!after.fields;
    }
    this.#isDeleted ||= kind === "delete" && own.length > 0;
    const by = this.#units - before;
    if (own.length > 0) this.#history.push({ time, units: this.#units, most: Math.max(...this.#shards.values(), 0) });
    if (own.length === 0 || kind === "delete" || kind === "ensure") return;
    if (hasReceipt) this.#committed += by;
    else if (by !== inEntries) this.#fail("I12", `${process.name} moves ${by} units, but its entry says ${inEntries}`);
  }

  /** A client, or a server with `once`, takes units. The callbacks are for the result of the call. */
  beginTake(process: Process, once: string, n: number, since: Micros) {
    const call: Call = { since, holder: this.#entries.has(once) ? once : undefined };
    this.#calls.add(call);
    return {
      done: (taken: number) => {
        this.#calls.delete(call);
        // Another device may have given back what this one has taken.
        if (taken < 1) this.#fail("I12", `${process.name} takes ${taken} units for ${once}`);
      },
      failed: (error: { readonly code?: unknown }) => {
        this.#calls.delete(call);
        this.#checkError(process, n, call, error);
      },
    };
  }

  /** A server puts units in, or takes them without `once`. */
  beginServer(process: Process, by: number, since: Micros) {
    const call: Call = { since };
    this.#calls.add(call);
    return {
      done: () => {
        this.#calls.delete(call);
        this.#acknowledged += by;
      },
      failed: (error: { readonly code?: unknown }) => {
        this.#calls.delete(call);
        this.#checkError(process, -by, call, error);
      },
    };
  }

  /** A server dies: what its calls have done is unknown. */
  serverDied(): void {
    this.#isUnknown = true;
  }

  #checkError(process: Process, n: number, { since, holder }: Call, error: { readonly code?: unknown }): void {
    // Its timers go on in the simulation.
    if (process.isDead) return;
    const { code } = error;
    const from = this.#history.findLastIndex(({ time }) => time <= since - this.#snapshotLag);
    const meanwhile = this.#history.slice(from);
    const fewest = Math.min(...meanwhile.map(({ units }) => units));
    const most = Math.min(...meanwhile.map((one) => one.most));
    if (code === "counter/sold-out") {
      const holds = holder !== undefined && this.#entries.has(holder);
      // Where snapshots lag, the entry may be read before it shows.
      if (holds && this.#snapshotLag === 0) this.#fail("I12", `${process.name} is told "sold out", but holds units`);
      if (fewest >= n) this.#fail("I12", `${process.name} is told "sold out", but there were always ${fewest}`);
    } else if (!(code === "counter/contention" && most < n) && !isUnavailable(code) && !this.#isDeleted) {
      this.#fail("completion", `${process.name} gives up: ${error}`);
    }
  }

  /** Everything was delivered. */
  atEnd(): void {
    if (this.#isDeleted) return;
    const hidden = [...this.#shards].filter(([id, units]) => units > 0 && id !== "0");
    if (hidden.length > 0) this.#fail("I12", `${STOCK} has units in ${hidden.map(([id]) => id)} when it is idle`);
    if (!this.#isUnknown && this.#calls.size === 0 && this.#committed !== this.#acknowledged)
      this.#fail("I12", `servers have moved ${this.#committed} units, and were told ${this.#acknowledged}`);
  }
}

function amountOf(fields: Fields | undefined): number {
  return Number(fields?.by ?? 0);
}

/** No answer, several times. */
function isUnavailable(code: unknown): boolean {
  return code === "unavailable" || code === "aborted";
}
