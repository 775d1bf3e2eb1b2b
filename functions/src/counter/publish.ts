/**
 * Publishes: one commit writes the counter document, the mirror and the history, on the precondition that the counter
 * document is as it was read. Of two publishers one wins; the other's precondition fails, and `aggregate` reads again (I3).
 */
import {
  type DocumentSnapshot,
  FieldPath,
  FieldValue,
  type Timestamp,
  type WriteBatch,
} from "firebase-admin/firestore";
import { COMMIT_TIMEOUT_MS, isAmount, unchanged, withTimeout } from "../../../admin/src/internal.ts";
import {
  amountShown,
  codeOf,
  HISTORY,
  type HistoryDocument,
  INVALID_ARGUMENT,
  isPreconditionFailure,
  type MirrorTarget,
  mirrorName,
  mirrorTarget,
  NOT_FOUND,
} from "../../../core/src/index.ts";
import type { Config } from "./config.ts";
import { type CounterState, historyStateOf, type Published, serializeCounter } from "./counterDocument.ts";
import { toTimestamp } from "./fields.ts";
import { type HistoryWrite, historyWrites } from "../features/history/history.ts";
import { logError } from "./log.ts";
import { globalFields } from "../features/regions/registers.ts";

/** What a publish needs of the counter document as it was read. */
type Before = Pick<
  CounterState,
  "ref" | "updateTime" | "published" | "mirrored" | "mirroredIn" | "adjusted" | "regions"
>;

/**
 * Cost: 1 write of the counter document, 1 of the mirror if the total has changed, and 1 per document of the history;
 * 1 read of a bridged mirror if it does not show the total. The mirror is skipped if its document is missing or full. The
 * next change of the total tries again.
 *
 * @param asOf  the instant that `next` is exact for, to the last digit
 * @returns the time of the commit; `undefined` if another instance has published, or a server has written the document or
 *          the bridged mirror
 * @throws DEADLINE_EXCEEDED after ten seconds, if a client has locked the document or its mirror, say. The commit may still be made,
 *         before another publish
 */
export async function publish(
  state: Before,
  next: Published,
  asOf: Timestamp,
  config: Config,
): Promise<Timestamp | undefined> {
  const { ref, published } = state;
  const paired = mirrorTarget(ref.id, config.mirrors);
  const shown = paired?.isBridged ? amountShown(state.mirrored, state.mirroredIn, paired) : published?.total;
  const mirror = next.total === shown ? undefined : paired;
  const history = historyWrites(published, next, config);
  try {
    return await commit(state, next, asOf, config, history, mirror).catch(async (error) => {
      if (!mirror || ![NOT_FOUND, INVALID_ARGUMENT].includes(codeOf(error) ?? 0)) throw error;
      const committedAt = await commit(state, next, asOf, config, history);
      // A missing document is ordinary, and is not logged.
      if (codeOf(error) === INVALID_ARGUMENT) {
        const { document } = mirror;
        logError("could not mirror a total: its document cannot hold it", { counter: ref.id, document, error });
      }
      return committedAt;
    });
  } catch (error) {
    if (isPreconditionFailure(error)) return undefined;
    throw error;
  }
}

async function commit(
  { ref, updateTime, mirrored, mirroredIn, adjusted, regions: others }: Before,
  next: Published,
  asOf: Timestamp,
  { regions }: Config,
  writes: readonly HistoryWrite[],
  mirror?: MirrorTarget,
): Promise<Timestamp | undefined> {
  const shown = mirror?.isBridged ? await ref.firestore.doc(mirror.document).get() : undefined;
  const isMirrored = mirror && shown?.exists !== false;
  const document = {
    ...serializeCounter(ref.id, next, asOf),
    ...(isMirrored && { mirrored: next.total, mirroredIn: mirrorName(mirror) }),
    ...(adjusted !== undefined && { adjusted: FieldValue.delete() }),
    ...(regions && globalFields(regions.own, next, others, regions)),
  };
  const batch = ref.firestore.batch();
  if (updateTime) batch.update(ref, document, { lastUpdateTime: updateTime });
  else batch.create(ref, document);
  if (isMirrored) {
    const field = new FieldPath(...mirror.field);
    if (shown) addToField(batch, shown, field, next.total, amountShown(mirrored, mirroredIn, mirror));
    else batch.update(ref.firestore.doc(mirror.document), field, next.total);
  }
  for (const { state, id, key, expireAt } of writes) {
    const points = { [key]: historyStateOf(state) };
    const history: HistoryDocument<Timestamp> = { points, expireAt: toTimestamp(expireAt) };
    batch.set(ref.collection(HISTORY).doc(id), history, { merge: true });
  }
  const [written] = await withTimeout(COMMIT_TIMEOUT_MS, batch.commit());
  return written?.writeTime;
}

/** Adds what a field does not show yet. One that is gone, or is no amount, gets the total. */
function addToField(
  batch: WriteBatch,
  shown: DocumentSnapshot,
  field: FieldPath,
  total: number,
  mirrored: number,
): void {
  const value = isAmount(shown.get(field)) ? FieldValue.increment(total - mirrored) : total;
  batch.update(shown.ref, field, value, unchanged(shown));
}
