/**
 * What tabs show to the user who is signed in. A total is one that the server has had, and none older than the tab showed before, plus
 * this page's own increments, each from the call until it has failed. Those of the user's other tabs may be in it. Those of other users
 * are in it only as the server has them. A user who likes changes a total by one at most.
 */
import { MAX_PUBLISH_DELAY_MS } from "../../../core/src/index.ts";
import { type Fields, isMap, type Micros, microsOf } from "../model/values.ts";

const MS = 1_000;

/** So long after another user has signed in, the tabs may still show the one before: events are on their way. */
const SWITCHING: Micros = 50 * MS;

/** So long after a call, its writes may not be in the SDK's queue yet, and then they are made by the user who is signed in. */
const IN_TRANSACTION: Micros = 3_000 * MS;

/** So long a page that no longer shows a counter knows its total. */
const FORGETTING: Micros = MAX_PUBLISH_DELAY_MS * MS;

const UNSURE: Micros = (MAX_PUBLISH_DELAY_MS + 1_000) * MS;

interface Stored {
  readonly at: Micros;
  readonly total: number;
  readonly version: number;
  /** The users whose like the total includes. */
  readonly liked: ReadonlySet<string>;
}

interface Call {
  readonly load: object;
  readonly user: string;
  readonly page: object;
  readonly by: number;
  /** Of a like or its undo: whether it counts afterwards. */
  readonly counts: boolean | undefined;
  readonly madeAt: Micros;
  /** When the total was stored that the page showed then. A later one may have the increment, for all that the page knows. */
  readonly shownAt: Micros;
  outcome?: "done" | "failed";
  /** Whether another user has signed in while it may not have been in the SDK's queue. */
  mayBeOfAnyone?: boolean;
  /** So long after the acknowledgement, the page may not know whether the total has it. */
  unsureUntil?: Micros;
}

interface State {
  readonly total?: number | undefined;
  readonly pending?: boolean | undefined;
  readonly fromCache?: boolean | undefined;
}

type Range = readonly [low: number, high: number];

export class ShownToUsers {
  readonly #fail: (message: string) => void;
  readonly #stored: Stored[] = [{ at: 0, total: 0, version: 0, liked: new Set() }];
  readonly #calls: Call[] = [];
  #user = "";
  /** Those before, and when they signed out. */
  #before: { readonly user: string; readonly until: Micros }[] = [];

  constructor(fail: (message: string) => void) {
    this.#fail = fail;
  }

  /** The counter document was written. */
  stored(fields: Fields | undefined, at: Micros, liked: ReadonlySet<string>): void {
    const { total = 0, asOf, direct } = fields ?? {};
    const writes = isMap(direct) ? Number(direct.writes ?? 0) : 0;
    this.#stored.push({ at, total: Number(total), version: (asOf ? microsOf(asOf) : 0) + writes, liked });
  }

  /** What a page is rendered with now. */
  rendered(): { readonly total: number; readonly version: number } {
    return this.#stored.at(-1) as Stored;
  }

  signsIn(user: string, now: Micros): void {
    for (const call of this.#calls) if (!call.outcome && now - call.madeAt < IN_TRANSACTION) call.mayBeOfAnyone = true;
    this.#before.push({ user: this.#user, until: now });
    this.#user = user;
  }

  /** A page is loaded. */
  open(name: string): PageCheck {
    let from = 0;
    let isViewed = false;
    const load = {};
    let page = {};
    let leftAt = Number.NaN;
    /** From a number on, no total of the cache is older. One from the server may be: the number has no version. */
    let beforeNumber: number | undefined;
    const latest: { state: State; like: boolean | undefined } = { state: {}, like: undefined };
    return {
      latest,
      views: (rendered, now) => {
        isViewed = true;
        // It has forgotten the total, and what was acknowledged: it shows what the cache knows, as a new page does.
        if (now - leftAt > FORGETTING) {
          page = {};
          from = 0;
        }
        beforeNumber = rendered === "number" ? from : undefined;
        if (rendered !== "none") from = this.#stored.length - 1;
      },
      leaves: (now) => {
        if (isViewed) leftAt = now;
        isViewed = false;
        Object.assign(latest, { state: {}, like: undefined });
      },
      calls: (by, counts, outcome, clock) => {
        const now = clock();
        const shownAt = (this.#stored[from] as Stored).at;
        const call: Call = { load, user: this.#user, page, by, counts, madeAt: now, shownAt };
        this.#calls.push(call);
        outcome.then(
          () => {
            call.outcome = "done";
            call.unsureUntil = clock() + UNSURE;
          },
          () => {
            call.outcome = "failed";
          },
        );
      },
      shows: (state, now) => {
        latest.state = state;
        if (state.fromCache === false && beforeNumber !== undefined) {
          from = beforeNumber;
          beforeNumber = undefined;
        }
        const { total, pending } = state;
        const before = this.#before.filter(({ until }) => now - until < SWITCHING);
        const users = [this.#user, ...before.map(({ user }) => user)];
        const open = this.#calls.filter(
          (call) => call.load === load && !call.outcome && call.user === this.#user && !call.mayBeOfAnyone,
        );
        if (open.length > 0 && pending === false && users.length === 1)
          this.#fail(`${name} shows ${JSON.stringify(state)}; nothing is pending, but a call has not returned`);
        if (total === undefined) return;
        // At first it is the total that was rendered, without what the page knows.
        const knows = pending === undefined ? {} : page;
        const ranges = this.#stored.slice(from).map((stored) => this.#rangeOf(stored, knows, users, now, pending));
        const found = ranges.findIndex(([low, high]) => low <= total && total <= high);
        if (found < 0)
          this.#fail(
            `${name} shows ${total} to "${this.#user}"; possible is ${ranges.map((range) => range.join(" to ")).join(", or ")}`,
          );
        else from += found;
      },
      showsLike: (like) => {
        latest.like = like;
      },
      atRest: (isQueued, like) => {
        const { state } = latest;
        if (!isViewed) return;
        const told = `${name} shows ${JSON.stringify(state)}, liked: ${latest.like} to "${this.#user}"`;
        if (isQueued && !state.pending) this.#fail(`${told}; nothing is pending, but writes are in the queue`);
        const isOpen = this.#calls.some((call) => call.page === page && !call.outcome);
        if (!isOpen && like !== undefined && latest.like !== undefined && latest.like !== like)
          this.#fail(`${told}; stored or queued is ${like}`);
      },
    };
  }

  /** Nothing is under way: the tab shows the document, and the user's like. */
  atEnd(name: string, { latest }: PageCheck, total: number, like: boolean | undefined): void {
    const { state } = latest;
    if (state.total !== total || state.pending || (like !== undefined && latest.like !== like))
      this.#fail(
        `${name} shows ${JSON.stringify(state)}, liked: ${latest.like}, at the end; ${total} is stored, liked: ${like}`,
      );
  }

  /** The least and the most that a page may show if a stored total is the newest that it knows. */
  #rangeOf(stored: Stored, page: object, users: readonly string[], now: Micros, pending?: boolean): Range {
    const ranges = this.#calls
      .filter(({ counts }) => counts === undefined)
      .map((call) => rangeOfCall(call, stored, page, users, pending));
    const likes = [...new Set(this.#calls.filter(({ counts }) => counts !== undefined).map(({ user }) => user))].map(
      (user) => this.#rangeOfLike(user, stored, page, users, now),
    );
    return [...ranges, ...likes].reduce<Range>(
      ([low, high], [least, most]) => [low + least, high + most],
      [stored.total, stored.total],
    );
  }

  /** Of all calls of a user, the last one decides whether the like counts. */
  #rangeOfLike(user: string, { at, liked }: Stored, page: object, users: readonly string[], now: Micros): Range {
    const isIn = liked.has(user) ? 1 : 0;
    const calls = this.#calls.filter((call) => call.user === user && call.counts !== undefined);
    if (!users.includes(user) && !calls.some((call) => mayBeOfOther(call))) return [0, 0];
    const last = calls.at(-1) as Call;
    const wanted = last.counts ? 1 : 0;
    // A call waits for those before, and an undo for a read of the entry.
    const isSure =
      users.length === 1 &&
      users[0] === user &&
      !last.mayBeOfAnyone &&
      last.page === page &&
      wanted &&
      !last.outcome &&
      last.shownAt >= at;
    if (isSure && calls.every(({ outcome }) => outcome === "done" || calls.length === 1))
      return [wanted - isIn, wanted - isIn];
    // Likes that count already show until they are refused, and undos when their likes may be in the total or not.
    const isUnsure = ({ outcome, unsureUntil = 0 }: Call) => !outcome || now < unsureUntil;
    const open = (counts: boolean) => calls.filter((call) => call.counts === counts && isUnsure(call)).length;
    return [-Math.max(open(false), isIn), Math.max(open(true), 1 - isIn)];
  }
}

/** What the check of one page knows. */
export interface PageCheck {
  readonly latest: { readonly state: State; readonly like: boolean | undefined };
  /** It shows the counter, perhaps rendered with the current total. */
  views(rendered: "none" | "number" | "with version", now: Micros): void;
  /** It no longer does. */
  leaves(now: Micros): void;
  /** The page makes a call. */
  calls(by: number, counts: boolean | undefined, outcome: Promise<unknown>, clock: () => Micros): void;
  shows(state: State, now: Micros): void;
  showsLike(like: boolean | undefined): void;
  /**
   * Nothing has happened for a second.
   *
   * @param isQueued  whether the SDK's queue of the user has writes
   * @param like      whether it shows an entry of the user; `undefined` if it has none and does not know
   */
  atRest(isQueued: boolean, like: boolean | undefined): void;
}

/** Whether another user may see the increment: it is acknowledged, so it counts; or it was not in the SDK's queue. */
function mayBeOfOther({ outcome, mayBeOfAnyone }: Call): boolean {
  return outcome === "done" || (!outcome && !!mayBeOfAnyone);
}

function rangeOfCall(
  call: Call,
  stored: Stored,
  page: object,
  users: readonly string[],
  pending: boolean | undefined,
): Range {
  const { by, user, outcome } = call;
  const any: Range = [Math.min(by, 0), Math.max(by, 0)];
  // The SDK adds a write that waits to what it showed before, with one that was refused since. A page that is loaded then cannot know.
  if (outcome === "failed") return pending && call.page !== page ? any : [0, 0];
  if (!users.includes(user)) return mayBeOfOther(call) ? any : [0, 0];
  if (users.length > 1 || call.mayBeOfAnyone || call.page !== page || call.shownAt < stored.at) return any;
  return [by, by];
}
