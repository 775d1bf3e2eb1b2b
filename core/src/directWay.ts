/**
 * How an increment joins the counter document instead of a shard.
 *
 *     no document                            generation 0
 *     open, fewer than 4 marks               its generation
 *     open, 4 marks, the last after 60 s+    the next generation begins
 *     open, 4 marks sooner; closed           not at all: the increment goes to a shard
 *
 * A write names its generation. It is refused for ever once the generation is full, over or closed. So a client whose write was refused,
 * and whose nonce is not in the document, may write again: to another generation, or to a shard.
 *
 * A generation that filled up fast shows a crowd, before the functions can: its writers choose among as many shards as the crowd needs.
 */
import {
  type DirectFields,
  MARK_WINDOWS,
  MAX_DIRECT_MARKS,
  type MarkWindow,
  SLOW_GENERATION_SECONDS,
} from "./layout.ts";

/** The parts of a timestamp of any SDK. */
interface Instant {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** The field `direct` of a counter document, as a client has read it. */
export type ReadDirect = Partial<DirectFields<Instant | null>>;

/**
 * @param direct  of a counter without a document, `null`
 * @returns the generation of the increment; `undefined` if it goes to a shard
 */
export function directGeneration(direct: ReadDirect | undefined | null): number | undefined {
  if (direct === null) return 0;
  if (direct?.open !== true) return undefined;
  const { generation = 0 } = direct;
  if (!isFull(direct)) return generation;
  return secondsToFill(direct) >= SLOW_GENERATION_SECONDS ? generation + 1 : undefined;
}

/** The most shards that a full generation may call for. */
const MOST_CROWD_SHARDS = 150;

/** How many shards a crowd needs that has filled the generation; 1 without a crowd. */
export function crowdShards(direct: ReadDirect | undefined | null): number {
  if (direct?.open !== true || !isFull(direct)) return 1;
  // Half as many more as one write a second takes.
  const needed = (1.5 * MAX_DIRECT_MARKS) / secondsToFill(direct);
  return Math.min(Math.max(Math.round(needed), 1), MOST_CROWD_SHARDS);
}

/** What a client knows of the field after a write of its own, without another read. */
export function afterDirectWrite(direct: ReadDirect | undefined | null, generation: number): ReadDirect {
  const window = generation % MARK_WINDOWS;
  const nonces = direct?.generation === generation ? (direct.marks?.[window]?.nonces ?? []) : [];
  return { open: true, generation, marks: { ...direct?.marks, [window]: { at: null, nonces: [...nonces, null] } } };
}

function isFull(direct: ReadDirect): boolean {
  return (windowOf(direct)?.nonces.length ?? 0) >= MAX_DIRECT_MARKS;
}

/** From the last write of the generation before to the last of this one, by what is stored. Infinite if there was none before. */
function secondsToFill(direct: ReadDirect): number {
  const [last, before] = [windowOf(direct)?.at, windowOf(direct, 1)?.at];
  if (!last || !before) return before ? 0 : Number.POSITIVE_INFINITY;
  return last.seconds - before.seconds + (last.nanoseconds - before.nanoseconds) / 1e9;
}

/** The marks of the generation that was so many before this one. */
function windowOf(
  { generation = 0, marks = {} }: ReadDirect,
  before = 0,
): MarkWindow<Instant | null, unknown> | undefined {
  return marks[(generation - before + MARK_WINDOWS) % MARK_WINDOWS];
}
