/**
 * Publishes: one commit writes the counter document if it is still as it was read, the mirror and the history. The values
 * are absolute, so of two publishers one wins, and the other reads the counter again (I3).
 */
import { FieldPath, type Timestamp } from "firebase-admin/firestore";
import {
  codeOf,
  HISTORY,
  type HistoryDocument,
  INVALID_ARGUMENT,
  isPreconditionFailure,
  NOT_FOUND,
} from "../../core/src/index.ts";
import type { Config } from "./config.ts";
import { type CounterState, historyStateOf, type Published, serializeCounter, toTimestamp } from "./counterDocument.ts";
import { type Kept, keptBy } from "./history.ts";
import { logError } from "./log.ts";
import { type MirrorTarget, mirrorOf } from "./mirror.ts";

/**
 * Cost: 1 write of the counter document, 1 of the mirror if the total has changed, and 1 per document of the history.
 *
 * A mirror whose document is missing or takes no more is left out, and the next change of the total tries again.
 *
 * @param asOf  the instant that `next` is exact for, to the last digit
 * @returns whether it was written; if not, another instance has published
 */
export async function publish(
  state: Pick<CounterState, "ref" | "updateTime" | "published">,
  next: Published,
  asOf: Timestamp,
  config: Config,
): Promise<boolean> {
  const { ref, published } = state;
  const mirror = next.total === published?.total ? undefined : mirrorOf(ref.id, config.mirrors);
  const kept = keptBy(published, next, config);
  try {
    await commit(state, next, asOf, kept, mirror).catch(async (error) => {
      if (!mirror || ![NOT_FOUND, INVALID_ARGUMENT].includes(codeOf(error) ?? 0)) throw error;
      await commit(state, next, asOf, kept);
      // A document that is missing is an ordinary thing.
      if (codeOf(error) === INVALID_ARGUMENT) {
        const { document } = mirror;
        logError("could not mirror a total: its document takes no more", { counter: ref.id, document, error });
      }
    });
    return true;
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
}

async function commit(
  { ref, updateTime }: Pick<CounterState, "ref" | "updateTime">,
  next: Published,
  asOf: Timestamp,
  kept: readonly Kept[],
  mirror?: MirrorTarget,
): Promise<void> {
  const document = serializeCounter(ref.id, next, asOf);
  const batch = ref.firestore.batch();
  if (updateTime) batch.update(ref, document, { lastUpdateTime: updateTime });
  else batch.create(ref, document);
  if (mirror) batch.update(ref.firestore.doc(mirror.document), new FieldPath(...mirror.field), next.total);
  for (const { state, id, key, expireAt } of kept) {
    const points = { [key]: historyStateOf(state) };
    const history: HistoryDocument<Timestamp> = { points, expireAt: toTimestamp(expireAt) };
    batch.set(ref.collection(HISTORY).doc(id), history, { merge: true });
  }
  await batch.commit();
}
