/**
 * What a counter's last publish says about the future: which writes need no more attention, and when the next
 * aggregation is due. Derived from the counter document alone, so every instance comes to the same conclusion.
 *
 *        asOf                due                    due + minInterval
 *   ──────┼───────────────────┼──────────────────────────┼──────────→ commit time of a write
 *    counted   polled: the next measurement     polled: the one after it
 *              else: whoever sees a write schedules an aggregation at `due`; after `due`, aggregates at once
 *
 * A counter is *polled* while at least two writes are expected in an interval, and as long as it has shards whose writes
 * wake nobody: whoever publishes over a polled state, or publishes one, has scheduled the next measurement before. So from
 * a polled state two more measurements follow for certain, the first not before `due` and the second at least
 * `minInterval` later; writes in that time are nobody's concern.
 *
 * A poll that finds nothing new publishes nothing. When the next is due follows from the last publish, so all who poll come
 * to the same instant, and however often one is run, one follows. It is due after the longest interval; or, once writers
 * keep to shard 0 and only a straggler could write to another, after 2, 4, 8 of them, and so on.
 */
import type { Config, Millis } from "./config.ts";
import type { Published } from "./counter.ts";
import { type Load, publishInterval } from "./interval.ts";

export interface Outlook {
  /** Writes committed up to here are counted, or certain to be without anyone's help. */
  readonly coveredUntil: Millis;
  /** The earliest instant the next publish may be exact for (I4). */
  readonly due: Millis;
}

/** Whether the next measurement is scheduled by the publisher instead of by the next write. */
export function isPolled(counter: Load, config: Config): boolean {
  return counter.silentShards > 0 || counter.rate * publishInterval(counter, config) >= 2_000;
}

/** When a polled counter is measured next, after a measurement that found nothing new. */
export function nextPoll({ asOf, shardCount }: Published, measuredAt: Millis, { maxInterval }: Config): Millis {
  const passed = Math.floor((measuredAt - asOf) / maxInterval);
  return asOf + maxInterval * (shardCount > 1 || passed < 1 ? passed + 1 : 2 ** (Math.floor(Math.log2(passed)) + 1));
}

/** @param margin  how far the database's snapshots may lag behind its commits */
export function outlookOf(counter: Published, margin: Millis, config: Config): Outlook {
  const due = counter.asOf + publishInterval(counter, config);
  return { coveredUntil: isPolled(counter, config) ? due + config.minInterval : counter.asOf - margin, due };
}

/** What to do about a write: nothing, look again when it is due, or aggregate now. */
export type Verdict = "covered" | { readonly scheduleAt: Millis } | "aggregate";

/** @param outlook  `undefined` for a counter that was never published */
export function judge(committedAt: Millis, outlook: Outlook | undefined, now: Millis): Verdict {
  if (!outlook) return "aggregate";
  if (committedAt <= outlook.coveredUntil) return "covered";
  if (now < outlook.due) return { scheduleAt: Math.max(outlook.due, committedAt) };
  return "aggregate";
}
