/**
 * How an increment joins the counter document instead of a shard.
 *
 *     no document                            generation 0
 *     open, fewer than 4 marks               its generation
 *     open, 4 marks, the last after 60 s+    the next generation begins
 *     open, 4 marks sooner                   without functions, the next generation begins; else as when closed
 *     closed                                 not at all: the increment goes to a shard
 *
 * A write names its generation. It is refused for ever once the generation is full, over or closed. So a client whose write was refused,
 * and whose nonce is not in the document, may write again: to another generation, or to a shard.
 *
 * A generation that filled up fast shows a crowd, before the functions can: its writers choose among as many shards as the crowd needs.
 */
import { DIRECT_WINDOWS, type DirectFields, MAX_DIRECT_MARKS, SLOW_GENERATION_SECONDS } from "./layout.ts";

/** A timestamp of any SDK. */
interface Instant {
  toMillis(): number;
}

/** The field `direct` of a counter document, as a client has read it; `null` if there is no document. */
export type ReadDirect = Partial<DirectFields<Instant | null>> | undefined | null;

/** Where the next increment goes. */
export interface DirectWay {
  /** The generation that it joins in the counter document; `undefined` if it goes to a shard. */
  readonly _generation?: number;
  /** How many increments the generation still takes. A client lowers it by its own. */
  _room?: number;
  /** How many shards a crowd needs that has filled the generation. */
  readonly _shards?: number;
  /** Without functions, the generation that it begins in place of a shard. */
  readonly _withoutFunctions?: number;
}

/** The most shards that a full generation may call for. */
const MOST_CROWD_SHARDS = 150;

export function directWay(direct: ReadDirect): DirectWay {
  if (direct === null) return { _generation: 0, _room: MAX_DIRECT_MARKS };
  const { open, generation = 0, marks = {} } = direct ?? {};
  if (!open) return {};
  const now = marks[generation % DIRECT_WINDOWS];
  const before = marks[(generation + DIRECT_WINDOWS - 1) % DIRECT_WINDOWS];
  const room = MAX_DIRECT_MARKS - (now?.nonces.length ?? 0);
  if (room > 0) return { _generation: generation, _room: room };
  // By what is stored, so that a refusal is one for ever. A write of this client in the SDK's queue has no timestamp yet.
  if (!now?.at || (before && !before.at)) return {};
  const millis = before?.at ? now.at.toMillis() - before.at.toMillis() : Number.POSITIVE_INFINITY;
  // Firestore compares microseconds, so exactly a minute may be less.
  if (millis > SLOW_GENERATION_SECONDS * 1_000) return { _generation: generation + 1, _room: MAX_DIRECT_MARKS };
  // Half as many more as one write a second takes.
  const needed = (1_500 * MAX_DIRECT_MARKS) / Math.max(millis, 1);
  return {
    _shards: Math.min(Math.round(needed), MOST_CROWD_SHARDS),
    _withoutFunctions: generation + 1,
  };
}
