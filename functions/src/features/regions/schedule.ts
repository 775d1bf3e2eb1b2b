/**
 * When a counter is brought to the other regions.
 *
 * A publish schedules the exchange that brings it, before it is made, unless one is scheduled already. So exchanges follow
 * writes, and a counter without writes costs nothing. `exchangeAt` in the counter document is the instant of the last one that was
 * scheduled.
 */
import type { Config } from "../../counter/config.ts";
import type { Published } from "../../counter/counterDocument.ts";
import type { Millis } from "../../counter/time.ts";

/** Most publishes are committed so soon after the instant that they are exact for. */
const USUAL_COMMIT: Millis = 200;

/** The instant of the exchange that brings a publish. @param previous  that of the last publish, if it has one */
export function nextExchangeAt(
  previous: Millis | undefined,
  asOf: Millis,
  { exchangeInterval }: Pick<Config, "exchangeInterval">,
): Millis {
  if (previous === undefined) return Math.ceil(asOf + USUAL_COMMIT);
  // A later time comes from a clock that was wrong.
  const latest = asOf + exchangeInterval + USUAL_COMMIT;
  if (previous > asOf && previous <= latest) return previous;
  return Math.ceil(Math.min(Math.max(asOf + USUAL_COMMIT, previous + exchangeInterval), latest));
}

/**
 * When another exchange is due, if the publish was committed so late that the scheduled one may have read the document before it;
 * else `undefined`. If it was another region that has written the document, this exchange is one too many.
 *
 * @param updatedAt  when the document was written
 */
export function missedExchangeAt(
  { exchangeAt, asOf }: Pick<Published, "exchangeAt" | "asOf">,
  updatedAt: Millis,
): Millis | undefined {
  const brings = exchangeAt !== undefined && exchangeAt > asOf;
  return brings && updatedAt >= exchangeAt ? Math.ceil(updatedAt) : undefined;
}

/** The shortest and the longest time between two attempts to reach a region. */
const FIRST_PAUSE: Millis = 2_000;
const LAST_PAUSE: Millis = 64_000;

/** The longer a region could not be reached, the longer the pause: up to this share of the time. */
const PAUSE_SHARE = 1 / 16;

/**
 * The next attempt to reach a region. Instants are multiples of the pause, and each pause is a multiple of the shorter ones. So
 * attempts of one counter that began at different times become one task.
 */
export function nextAttemptAt(failingSince: Millis, now: Millis): Millis {
  const wanted = Math.min((now - failingSince) * PAUSE_SHARE, LAST_PAUSE);
  let pause = FIRST_PAUSE;
  while (pause * 2 <= wanted) pause *= 2;
  return (Math.floor(now / pause) + 1) * pause;
}
