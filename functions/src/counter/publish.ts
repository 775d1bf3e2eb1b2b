/**
 * Publishes: one commit writes the counter document and what features add, on the precondition that the counter document is as it was
 * read. Of two publishers one wins; the other's precondition fails, and `aggregate` reads again (I3).
 */
import { FieldValue, type Timestamp } from "firebase-admin/firestore";
import { COMMIT_TIMEOUT_MS, withTimeout } from "../../../admin/src/internal.ts";
import { isPreconditionFailure } from "../../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import { serializeCounter } from "./counterDocument.ts";
import type { CounterState, Feature, Published } from "./types.ts";

/**
 * Cost: 1 write of the counter document, and what the features write. A feature whose write of a document of the app is refused is left
 * out.
 *
 * @param asOf  the instant that `next` is exact for, to the last digit
 * @returns the time of the commit; `undefined` if another instance has published, or a server has written a document of the commit
 * @throws DEADLINE_EXCEEDED after ten seconds, if a client has locked a document of the commit, say. The commit may still be made,
 *         before another publish
 */
export async function publish(
  { config, features }: Pick<Backend, "config" | "features">,
  state: CounterState,
  next: Published,
  asOf: Timestamp,
): Promise<Timestamp | undefined> {
  try {
    return await commit(features).catch(async (error) => {
      const refused = features.filter((feature) => feature.isRefused?.(error, state, next, config));
      if (refused.length === 0) throw error;
      const committedAt = await commit(features.filter((feature) => !refused.includes(feature)));
      for (const feature of refused) feature.wasLeftOut?.(error, state, config);
      return committedAt;
    });
  } catch (error) {
    if (isPreconditionFailure(error)) return undefined;
    throw error;
  }

  async function commit(joining: readonly Feature[]): Promise<Timestamp | undefined> {
    const { ref, updateTime, adjusted } = state;
    const contributions = await Promise.all(joining.map((feature) => feature.contribute?.(state, next, config)));
    const document = Object.assign(
      { ...serializeCounter(ref.id, next, asOf), ...(adjusted !== undefined && { adjusted: FieldValue.delete() }) },
      ...contributions.map((one) => one?.fields),
    );
    const batch = ref.firestore.batch();
    if (updateTime) batch.update(ref, document, { lastUpdateTime: updateTime });
    else batch.create(ref, document);
    for (const one of contributions) one?.addTo?.(batch);
    const [written] = await withTimeout(COMMIT_TIMEOUT_MS, batch.commit());
    return written?.writeTime;
  }
}
