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
import { type DirectFields, MARK_WINDOWS, MAX_DIRECT_MARKS, SLOW_GENERATION_SECONDS } from "./layout.ts";

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
  const { open, generation = 0 } = direct ?? {};
  const seconds = secondsToFill(direct);
  if (!open || seconds === 0) return open ? generation : undefined;
  return seconds >= SLOW_GENERATION_SECONDS ? generation + 1 : undefined;
}

/** The most shards that a full generation may call for. */
const MOST_CROWD_SHARDS = 150;

/** How many shards a crowd needs that has filled the generation: half as many more as one write a second takes. 1 without a crowd. */
export function crowdShards(direct: ReadDirect | undefined | null): number {
  const seconds = direct?.open ? secondsToFill(direct) : 0;
  const needed = Math.round((1.5 * MAX_DIRECT_MARKS) / (seconds || Number.POSITIVE_INFINITY));
  return Math.min(Math.max(needed, 1), MOST_CROWD_SHARDS);
}

/**
 * From the last write of the generation before to the last of this one, by what is stored; infinite if there was none before. 0 if the
 * generation is not full.
 */
function secondsToFill(direct: ReadDirect | undefined | null): number {
  const { generation = 0, marks = {} } = direct ?? {};
  const [now, before] = [generation, generation + MARK_WINDOWS - 1].map((one) => marks[one % MARK_WINDOWS]);
  if (!((now?.nonces.length as number) >= MAX_DIRECT_MARKS)) return 0;
  if (!before?.at) return Number.POSITIVE_INFINITY;
  const millis = (at: Instant | null | undefined) => (at ? at.seconds * 1e3 + at.nanoseconds / 1e6 : 0);
  // A write of this client that has no timestamp yet was fast.
  return Math.max(millis(now?.at) - millis(before.at), 1) / 1e3;
}
