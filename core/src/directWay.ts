/**
 * How an increment joins the counter document instead of a shard.
 *
 *     no document                        create it
 *     open, fewer than 8 marks           add a mark
 *     open, 8 marks in two minutes+      renew: begin the next generation
 *     open, 8 marks sooner; closed       not at all: the increment goes to a shard
 *
 * An increment that was refused is looked up in the document. It counts if its nonce is there. If its generation is full, over or closed,
 * it is refused for ever, so another increment is safe: this way again in a new generation, else on a shard.
 */
import { type DirectFields, MAX_DIRECT_MARKS, SLOW_GENERATION_SECONDS } from "./layout.ts";

/** The parts of a timestamp of any SDK. */
interface Instant {
  readonly seconds: number;
  readonly nanoseconds: number;
}

export interface DirectWay {
  readonly _kind: "create" | "add" | "renew";
  /** The generation that the increment belongs to. */
  readonly _generation: number;
}

/**
 * @param exists  whether there is a counter document
 * @param direct  its field `direct`
 * @returns `undefined` if the increment goes to a shard
 */
export function directWay(exists: boolean, direct: Partial<DirectFields<Instant>> | undefined): DirectWay | undefined {
  if (!exists) return { _kind: "create", _generation: 0 };
  const { open, generation = 0, at, since, marks = [] } = direct ?? {};
  if (open !== true) return undefined;
  if (marks.length < MAX_DIRECT_MARKS) return { _kind: "add", _generation: generation };
  // As the rules compare them: by what is stored, so that a refusal stays one.
  const isSlow = at && since && micros(at) - micros(since) >= SLOW_GENERATION_SECONDS * 1e6;
  return isSlow ? { _kind: "renew", _generation: generation + 1 } : undefined;
}

function micros({ seconds, nanoseconds }: Instant): number {
  return seconds * 1e6 + nanoseconds / 1e3;
}
