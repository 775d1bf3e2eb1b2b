/**
 * The total that a watch shows: the last published total plus this client's increments that it does not include yet. No
 * increment counts twice, in whatever order acknowledgements and totals arrive.
 *
 * Of the increments on shards, a published total includes exactly those committed up to its `asOf`. The client knows two bounds of the commit
 * time of its own increment: it is later than any `asOf` read before the increment was made, and within a round trip of the
 * server's timestamp, which the acknowledgement brings.
 *
 *         earliest              latest                   a total whose `asOf` is
 *   ─────────┼────────────────────┼─────────────→        before earliest: does not include it, so it is added
 *              committed in between                      latest or later: includes it, so it is dropped
 *                                                        in between:      not known yet
 *
 * While that is not known, the true total is between the total with and without the increment. The shown total moves no
 * further than into that range, so a guess neither lowers it nor counts twice. The acknowledgement or the next total decides.
 *
 * Increments with the same `once` are committed in the order in which they were made. So a total includes the first few of them
 * and none of the others: of like, unlike, like, a total that includes none or two lacks 1, and any other lacks 0. Of two increments
 * in a row, without an undo in between, the first one counts.
 *
 * A direct increment leaves its mark in the document whose total includes it. So the mark decides. The first total may be the SDK's view
 * with this client's unsent writes, because their marks are in it. Later such views are skipped. Until an increment has an outcome, it is
 * added to a total without its mark: so the total does not dip while a refused increment is made again.
 *
 * An increment in the queue of another user adds nothing until that user is back. A total with a smaller version than the shown one is
 * ignored, unless the server's listener tells it: then the counter was deleted. After the total of a rendered page, the listener may be
 * behind.
 *
 * Instants are whole microseconds of the server's clock since the epoch. The client's clock only measures the round trip.
 */

import type { IncrementPlan } from "./writePlan.ts";

/** One increment of this client. */
export interface OwnIncrement {
  /** The amount. */
  readonly by: number;
  /** Increments with the same `once` are committed in the order in which they were made. */
  readonly _once: unknown;
  /** Whether it takes back what its `once` counts. */
  readonly _isUndo: boolean;
  /** The commit is not before this instant. */
  _earliest: number;
  /** The commit is not after this instant; infinite without an acknowledgement. */
  _latest: number;
  /** Whether the total is the SDK's view with this increment unsent. It stays so if the increment is refused, and made again elsewhere. */
  _isViewed?: boolean;
  /** The call, which has its latest plan, and tells whether it is in the queue of a user who has signed out. */
  readonly _call: (Queued & { readonly _plan?: IncrementPlan; readonly _ordered?: Queued | undefined }) | undefined;
}

interface Queued {
  readonly _isAway?: boolean;
}

/** The `asOf` of a document without a published total: before any increment on a shard, and after a deletion of the counter. */
export const UNPUBLISHED = 0.5;

/** Versions of published totals are instants, and larger than this. Those of others are numbers of writes. */
const EARLIEST_INSTANT = 1e12;

/** A total that the client reads. */
export interface TotalRead {
  readonly total: number;
  /** {@link UNPUBLISHED}; 0 for no document: the counter is new or deleted. */
  readonly asOf: number;
  /** Later totals have larger ones. Without a version, a total is newer than any from the cache, and older than any other. */
  readonly version: number | undefined;
  /**
   * The server's listener tells the newest total, and that a counter was deleted. One from this device's cache or of the page as it was
   * rendered may be older than another, and so may a copy: by HTTP, or what one region knows of another.
   */
  readonly source: "server" | "cache" | "page" | "copy";
  /** Whether it is the SDK's view with this client's unsent writes. Once they are sent, the SDK may show what was before. */
  readonly pending?: boolean;
  /** Tells which direct increments the total includes. */
  readonly hasMark?: HasMark | undefined;
}

/** Tells of a direct increment whether the document that was read last includes it; `undefined` if its marks are too old to tell. */
export type HasMark = (plan: IncrementPlan) => boolean | undefined;

/** Sums of fractions that cancel out may differ from 0 by this much. */
const ROUNDING = 1e-9;

/**
 * The total of one counter. Synchronous, no I/O. Each call takes time in proportion to the increments not dropped yet; for those with
 * the same `once`, to the square of their number.
 */
export class OptimisticTotal {
  /** In the order in which they were made; those that a total includes, until it includes all with their once. */
  #own: OwnIncrement[] = [];
  #published = 0;
  #asOf = 0;
  #shown = 0;
  #buffered = 0;
  #version: number | undefined;
  /** Whether a total was read. */
  _isRead = false;
  /** Whether all totals so far are from the cache or the page's markup, so older than any increment of this client. */
  #isCached = true;
  #hasMark: HasMark = () => false;
  /** Whether the total is the SDK's view with unsent writes of the user who is signed in. */
  _isPendingView = false;
  #hasRefused = false;
  /** Whether the total is that of the page as it was rendered. */
  #isOfPage = false;
  /** Whether it is that of a page which may have been rendered after some of these increments. */
  #mayIncludeAll = false;

  /** The total to show. */
  get _total(): number {
    return this.#shown;
  }

  /** Whether there are increments that the server has not acknowledged, or that a buffer has not written. */
  get _pending(): boolean {
    return Math.abs(this.#buffered) > ROUNDING || this.#own.some((own) => isOpen(own) && isHere(own));
  }

  /**
   * The client makes an increment, or learns of one.
   *
   * @param _once - one that counts once; else one that no other has
   * @param earliest - the commit is not before; by default, it is after the last total
   */
  _incrementMade(
    by: number,
    _once: unknown = {},
    _isUndo = false,
    _call?: OwnIncrement["_call"],
    _earliest = this.#asOf + 1,
  ): OwnIncrement {
    const own = { by, _once, _isUndo, _earliest, _latest: Number.POSITIVE_INFINITY, _call };
    this.#change([...this.#own, own]);
    return own;
  }

  /** The next total is the first one again, even if it is older. Only increments without an outcome are added to it. */
  _restart(): void {
    this.#own = this.#own.filter(isOpen);
    this.#hasRefused &&= this.#own.length > 0;
    this._isRead = false;
    this.#hasMark = () => false;
  }

  /** Whether the client has made an increment with this `once` that a total may lack. */
  _hasOnce(once: unknown): boolean {
    return this.#own.some(({ _once }) => _once === once);
  }

  /** The sum that buffers have not written changes by an amount. No published total includes that sum. */
  _bufferedChanged(by: number): void {
    this.#buffered += by;
    this.#shown += by;
  }

  /** The user is back whose queue has an increment. */
  _ownerReturned(own: OwnIncrement): void {
    own._earliest = this.#asOf + 1;
  }

  /** The server has committed an increment, at `latest` or before. */
  _incrementCommitted(own: OwnIncrement, latest: number): void {
    own._latest = latest;
    this._settle();
  }

  /** An increment is no longer shown, because the server has refused it, or because nothing shows the total. */
  _incrementDropped(own: OwnIncrement, isRefused = true): void {
    this.#hasRefused ||= isRefused;
    if (own._isViewed) this.#published -= own.by;
    this.#change(this.#own.filter((one) => one !== own));
    this._settle();
  }

  /**
   * Whether a document that the SDK shows with pending writes has all direct increments of this client. It may also have refused ones:
   * the SDK adds a write to what it showed when the write was made.
   */
  _isWhole(hasMark: HasMark): boolean {
    const isIn = (plan: IncrementPlan | undefined) => plan?.generation === undefined || hasMark(plan);
    return !this.#hasRefused && this.#own.every((own) => !isHere(own) || isIn(own._call?._plan));
  }

  /** The client reads a total. @returns whether it is shown: no older total follows a newer one */
  _totalRead({ total, asOf, version, source, pending = false, hasMark = () => undefined }: TotalRead): boolean {
    const isFromServer = source === "server";
    // A listener that has begun before the page was rendered may be behind it, unless the document is gone, or new since then.
    const leastAsOf = (this.#version ?? 0) < EARLIEST_INSTANT ? 0 : UNPUBLISHED;
    const mayBeOlder = !isFromServer || (this.#isOfPage && asOf > leastAsOf);
    if (this._isRead && mayBeOlder && isOlder(version, this.#version, source)) return false;
    // The counter was deleted, and with it all committed increments.
    if (asOf < this.#asOf && isFromServer) this.#own = this.#own.filter(isOpen);
    if (!this._isRead) this.#shown = total + this.#buffered;
    this.#isCached &&= source === "cache" || source === "page";
    this.#isOfPage = source === "page";
    this.#mayIncludeAll = this.#isOfPage && this._isRead;
    if (this.#isCached) for (const own of this.#own) own._earliest = Math.max(own._earliest, asOf + 1);
    this._isRead = true;
    this.#published = total;
    if (source !== "page") this.#asOf = asOf;
    this.#version = version;
    this.#hasMark = hasMark;
    this._isPendingView = pending;
    for (const own of this.#own) {
      own._isViewed = false;
      own._isViewed = pending && this.#isIncluded(own);
    }
    this._settle();
    return true;
  }

  /** Changes the increments, and the shown total by as much. */
  #change(own: OwnIncrement[]): void {
    this.#shown += sum(amounts(own.filter(isHere))) - sum(amounts(this.#own.filter(isHere)));
    this.#own = own;
  }

  /** Moves the shown total into the possible range. Call it also after another user has signed in. */
  _settle(): void {
    let low = this.#published + this.#buffered;
    let high = low;
    const away = this.#own.filter((own) => !isHere(own));
    const byOnce = new Map<unknown, OwnIncrement[]>();
    for (const own of this.#own.filter(isHere)) {
      const sequence = byOnce.get(own._once) ?? [];
      sequence.push(own);
      byOnce.set(own._once, sequence);
    }
    this.#own = away;
    for (const sequence of byOnce.values()) {
      // The last one that the total surely includes, and all before it.
      const included = sequence.map((own) => this.#isIncluded(own)).lastIndexOf(true);
      // An acknowledged increment stays included. Another one may be refused.
      const isLast = included === sequence.length - 1;
      if (isLast && !this._isPendingView && !sequence.some(isOpen)) continue;
      this.#own.push(...sequence);
      const added = amounts(sequence);
      // What the total lacks if it includes no other; the next one, too; the next two …
      const lacks = [sum(added.slice(included + 1))];
      for (const [n, own] of sequence.entries()) {
        if (n > included && this.#mayBeIncluded(own)) lacks.push(sum(added.slice(n + 1)));
      }
      low += Math.min(...lacks);
      high += Math.max(...lacks);
    }
    this.#shown = Math.min(Math.max(this.#shown, low), high);
  }

  /** Whether the total surely includes an increment. */
  #isIncluded(own: OwnIncrement): boolean {
    if (own._isViewed) return true;
    const plan = own._call?._plan;
    if (plan?.generation === undefined) return own._latest <= this.#asOf;
    const hasMark = this.#hasMark(plan);
    // Marks that are gone were those of acknowledged increments.
    return hasMark ?? !isOpen(own);
  }

  #mayBeIncluded({ _call, _earliest }: OwnIncrement): boolean {
    return this.#mayIncludeAll || (_call?._plan?.generation === undefined && _earliest <= this.#asOf);
  }
}

/** Whether an increment has no outcome. */
function isOpen({ _latest }: OwnIncrement): boolean {
  return _latest === Number.POSITIVE_INFINITY;
}

/** An increment in the queue of another user adds nothing: the SDK sends it when that user is back. */
function isHere({ _call }: OwnIncrement): boolean {
  return !(_call?._ordered ?? _call)?._isAway;
}

/** Whether a total is older than the known one. One of unknown version is newer than those of the cache alone. */
function isOlder(version: number | undefined, known: number | undefined, source: TotalRead["source"]): boolean {
  if (version !== undefined && known !== undefined) return version < known;
  return source === "cache" || source === "page";
}

/** What each increment adds: of two in a row with the same `once`, or two undos, the second one adds nothing. */
function amounts(own: readonly OwnIncrement[]): number[] {
  const last = new Map<unknown, OwnIncrement>();
  return own.map((one) => {
    const before = last.get(one._once);
    last.set(one._once, one);
    return before && before._isUndo === one._isUndo ? 0 : one.by;
  });
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((sum, by) => sum + by, 0);
}
