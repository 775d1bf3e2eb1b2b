/**
 * How an increment joins the counter document instead of a shard.
 *
 *     no document                            generation 0
 *     open, fewer than 4 marks               its generation
 *     open, 4 marks, the last after 60 s+    the next generation begins
 *     open, 4 marks sooner                   as when closed
 *     closed                                 not at all: the increment goes to a shard
 *
 * Without functions, a generation that was not slow takes 40 marks, and then the next one begins.
 *
 * A write names its generation. It is refused for ever once the generation is full, over or closed. So a client whose write was refused,
 * and whose nonce is not in the document, may write again: to another generation, or to a shard.
 *
 * A generation that filled up fast shows a crowd, before the functions can: its writers choose among as many shards as the crowd needs.
 */
import {
  DIRECT_SLOTS,
  type DirectFields,
  MAX_DIRECT_MARKS,
  MAX_MARKS_WITHOUT_FUNCTIONS,
  SLOW_GENERATION_SECONDS,
} from "./layout.ts";

/** A timestamp of any SDK. */
interface Instant {
  toMillis(): number;
}

/** The field `direct` of a counter document, as a client has read it; `null` if there is no document. */
export type ReadDirect = Partial<DirectFields<Instant | null>> | undefined | null;

/** Where the next increment goes, by the counter document. */
export interface DirectTarget {
  /** The generation that it joins in the counter document; `undefined` if it goes to a shard. */
  readonly _generation?: number;
  /** How many increments the generation still takes. A client lowers it by its own. */
  _room?: number;
  /** How many shards a crowd needs that has filled the generation. */
  readonly _shards?: number;
}

/** The most shards that a full generation may call for. */
const MOST_CROWD_SHARDS = 150;

/** @param hasNoShards  whether the client knows that there are no functions; more than four marks tell, too */
export function directTarget(direct: ReadDirect, hasNoShards?: boolean): DirectTarget {
  const { open, generation = 0, marks = {} } = direct ?? { open: direct === null };
  if (!open) return {};
  // A server may have written anything.
  const now = marks[generation % DIRECT_SLOTS];
  const before = marks[(generation + DIRECT_SLOTS - 1) % DIRECT_SLOTS];
  const size = now?.nonces?.length ?? 0;
  const most = hasNoShards || size > MAX_DIRECT_MARKS ? MAX_MARKS_WITHOUT_FUNCTIONS : MAX_DIRECT_MARKS;
  const next = { _generation: generation + 1, _room: most };
  // By stored times alone, so that a refusal is one for ever. A pending write of this client has none: then it is NaN.
  const millis = (now?.at?.toMillis?.() as number) - (before ? (before.at?.toMillis?.() as number) : 0);
  // Firestore compares microseconds, so exactly a minute may be less.
  if (size >= MAX_DIRECT_MARKS && millis > SLOW_GENERATION_SECONDS * 1_000) return next;
  if (size < most) return { _generation: generation, _room: most - size };
  if (!(millis >= 0)) return {};
  if (most > MAX_DIRECT_MARKS) return next;
  // Half as many more as one write a second takes.
  const needed = (1_500 * MAX_DIRECT_MARKS) / Math.max(millis, 1);
  return { _shards: Math.min(Math.round(needed), MOST_CROWD_SHARDS) };
}
