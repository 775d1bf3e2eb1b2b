/** Events of documents that are created in a counted collection, or deleted. Updates do not change its size. */
import { type CountedCollection, counterIdOf } from "../../../../core/src/index.ts";
import type { WriteEvent } from "../../counter/cause.ts";
import { logError } from "../../counter/log.ts";
import type { Millis } from "../../counter/time.ts";

/** @returns what wakes the collection's counter; `undefined` if the collection cannot be counted, which is logged */
export function collectionEvent(
  collection: string,
  committedAt: Millis,
  countedCollection: CountedCollection | undefined,
): WriteEvent | undefined {
  const counterId = counterIdOf(collection, countedCollection);
  if (counterId !== undefined) return { counterId, committedAt };
  logError("cannot count this collection: its counter would have no id of its own", { collection });
  return undefined;
}

/**
 * An upper bound of the time of a deletion. The event's own time may be truncated (the emulator's is, to the second), but the
 * document was deleted before the event arrived. Too late a bound costs at worst another measurement.
 */
export function latestDeletionTime(eventTime: string, now: Millis): Millis {
  return Math.max(Date.parse(eventTime) + 1, now);
}
