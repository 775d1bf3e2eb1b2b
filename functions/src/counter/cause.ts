/** What prompts the backend to look at a counter: the event of a write, or a task that was scheduled. */
import { shardIndex, TRIGGER_SHARDS } from "./shards.ts";
import type { Millis } from "./time.ts";

/** The event of one write that a counter's total depends on. */
export interface WriteEvent {
  readonly counterId: string;
  /** The shard that changed; absent if the total does not depend on shards. */
  readonly shardId?: string;
  /** Whether the write created that shard. */
  readonly isNew?: boolean;
  /** The update time of the document, not the event's time, which may be rounded. Of a deletion an upper bound. */
  readonly committedAt: Millis;
}

/** What a task does. Features declare their kinds beside these, as they declare fields (types.ts). */
export interface TaskKinds {
  /** Counts all writes up to `due`: the next measurement of a counter in a polled phase. */
  readonly poll: true;
  /** Counts all writes up to `due`: those that came before the next publish was due. */
  readonly followUp: true;
}

/** A scheduled task of a counter. */
export interface CounterTask {
  readonly counterId: string;
  readonly due: Millis;
  readonly kind: keyof TaskKinds;
  /** Of another attempt: since when the attempts have failed. */
  readonly failingSince?: Millis;
}

/** A task of the counter that a decision is about. */
export type ScheduledTask = Omit<CounterTask, "counterId">;

/** Resolves once the task exists. */
export type Schedule = (task: CounterTask) => Promise<void>;

/**
 * How far ahead a task may be due. In a kit or an extension a task carries an ID token, which the Admin SDK fetches when it
 * enqueues the task (`updateTaskPayload` in `firebase-admin/lib/functions/functions-api-client-internal.js`) and which is
 * valid for an hour (https://cloud.google.com/docs/authentication/token-types#id). A plain codebase keeps to the same limit.
 */
export const MAX_TASK_DELAY: Millis = 50 * 60_000;

/** A write or a task, as a decision needs it. */
export interface Cause {
  /** The commit time of the write, or the due time of the task: all writes up to it must be counted. */
  readonly at: Millis;
  readonly isPoll: boolean;
  readonly shardId?: string | undefined;
  readonly isNew?: boolean | undefined;
  /** Whether an earlier attempt has failed. */
  readonly isRetry?: boolean | undefined;
}

/** Whether a write has most likely begun the use of shards: it has created the first one. */
export function beginsCounter({ isNew, shardId }: Pick<Cause, "isNew" | "shardId">): boolean {
  return isNew === true && shardId === TRIGGER_SHARDS[0];
}

/** Whether a write has updated a silent shard. Few deployments have a trigger for such updates. */
export function isSilentUpdate({ isNew, shardId }: Cause): boolean {
  return isNew === false && shardId !== undefined && !TRIGGER_SHARDS.includes(shardId);
}

/** Whether a write has created a shard beyond the shard count: a sign of contention, though the client may just know an old count. */
export function createdBeyond({ isNew, shardId = "" }: Cause, shardCount: number): boolean {
  return isNew === true && (shardIndex(shardId) ?? 0) >= shardCount;
}
