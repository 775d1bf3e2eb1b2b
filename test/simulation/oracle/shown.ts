/**
 * What watches show: the published total and the watching client's own calls that it may lack, as far as the client can know. Of the
 * calls with `once`, all together add or subtract no more than one increment with that `once` counts.
 */
import { MAX_PUBLISH_DELAY_MS } from "../../../core/src/index.ts";
import { type Fields, type Micros, microsOf } from "../model/values.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** So long after an acknowledgement a client may not know whether a total includes the increment. */
const UNSURE: Micros = 2 * MAX_PUBLISH_DELAY_MS * 1_000;

interface Call {
  readonly by: number;
  readonly once: string | undefined;
  /** The `asOf` of the last total that the watch had shown before the call. */
  readonly shownBefore: Micros;
  returnedAt?: Micros;
  hasFailed?: boolean;
}

interface Watch {
  readonly calls: Call[];
  asOf: Micros;
  total: number;
  published: number;
  pending: boolean;
}

interface Shown {
  readonly total: number;
  readonly asOf: unknown;
  readonly pending: boolean;
}

export class ShownCheck {
  readonly #fail: Fail;
  readonly #watches = new Map<string, Watch>();
  /** Counter and `asOf` → the least and the most that its totals were. */
  readonly #published = new Map<string, readonly [least: number, most: number]>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  published(counter: string, fields: Fields | undefined): void {
    if (fields?.total === undefined) return;
    const total = Number(fields.total);
    const name = `${counter} ${fields.asOf ? microsOf(fields.asOf) : 0}`;
    const [least, most] = this.#published.get(name) ?? [fields.asOf ? total : 0, total];
    this.#published.set(name, [Math.min(least, total), Math.max(most, total)]);
  }

  /** A process begins to watch a counter. */
  begin(process: Process, counter: string): void {
    this.#watches.set(`${process.name} ${counter}`, { calls: [], asOf: 0, total: 0, published: 0, pending: false });
  }

  /** A process that watches makes a call. @returns called with the time when the call returns */
  called(process: Process, counter: string, by: number, once?: string): (now: Micros, hasFailed?: boolean) => void {
    const watch = this.#watches.get(`${process.name} ${counter}`);
    const call: Call = { by, once, shownBefore: watch?.asOf ?? 0 };
    watch?.calls.push(call);
    return (now, hasFailed = false) => {
      call.returnedAt = now;
      call.hasFailed = hasFailed;
    };
  }

  shows(process: Process, counter: string, now: Micros, { total, asOf: timestamp, pending }: Shown): void {
    const watch = this.#watches.get(`${process.name} ${counter}`) as Watch;
    const { calls } = watch;
    const asOf = timestamp ? microsOf(timestamp) : 0;
    const [least, published] = this.#published.get(`${counter} ${asOf}`) ?? [0, 0];
    const what = `${process.name} shows ${total} of ${counter}, ${least} to ${published} as of ${asOf}`;
    const plain = calls.filter(({ once }) => once === undefined).map((call) => rangeOf(call, asOf, now));
    const withOnce = new Map<string | undefined, Call[]>();
    for (const call of calls) if (call.once) withOnce.set(call.once, [...(withOnce.get(call.once) ?? []), call]);
    const open = [...withOnce.values()].filter((all) => all.some((call) => !isOver(call, asOf, now))).length;
    const low = least - open + plain.reduce((sum, [least]) => sum + least, 0);
    const high = published + open + plain.reduce((sum, [, most]) => sum + most, 0);
    if (total < low || total > high) this.#fail("watch", `${what}; possible is ${low} to ${high}`);
    if (!pending && calls.some(({ returnedAt }) => returnedAt === undefined))
      this.#fail("watch", `${what}; nothing is pending, but a call has not returned`);
    const isForward = asOf >= watch.asOf && published >= watch.published;
    const hasCause = calls.some(({ by, once, hasFailed }) => by < 0 || once || hasFailed);
    if (isForward && !hasCause && total < watch.total) this.#fail("watch", `${what}, after ${watch.total}`);
    Object.assign(watch, { asOf, total, published, pending });
  }

  /** Everything was delivered: each live watch shows what is published, and nothing is pending. */
  atEnd(process: Process, counter: string, published: number): void {
    const { total, pending } = this.#watches.get(`${process.name} ${counter}`) as Watch;
    if (pending || total !== published)
      this.#fail(
        "watch",
        `${process.name} shows ${total} of ${counter} at the end${pending ? ", pending" : ""}; ${published} is published`,
      );
  }
}

/** The least and the most that a call without `once` adds to a published total. */
function rangeOf(call: Call, asOf: Micros, now: Micros): readonly [least: number, most: number] {
  const { by, returnedAt, shownBefore } = call;
  if (isOver(call, asOf, now)) return [0, 0];
  if (asOf <= shownBefore && (returnedAt === undefined || !call.hasFailed)) return [by, by];
  return [Math.min(by, 0), Math.max(by, 0)];
}

/** Whether a client surely knows that a total lacks nothing of a call. */
function isOver({ returnedAt, hasFailed }: Call, asOf: Micros, now: Micros): boolean {
  return returnedAt !== undefined && (hasFailed ? returnedAt < now : returnedAt + UNSURE < asOf);
}
