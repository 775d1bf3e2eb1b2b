/**
 * Publishes: one commit writes the counter document and what features add, on the precondition that the counter document is as it was
 * read. Of two publishers one wins; the other's precondition fails, and `aggregate` reads again (I3).
 */
import { FieldValue, type Timestamp } from "firebase-admin/firestore";
import { isPreconditionFailure } from "../../../core/src/index.ts";
import { COMMIT_TIMEOUT_MS, withTimeout } from "../../../firestore/src/index.ts";
import type { Backend } from "./backend.ts";
import { serializeCounter } from "./counterDocument.ts";
import { directChange } from "./direct.ts";
import { directUpdate } from "./directField.ts";
import { logError } from "./log.ts";
import type { Millis } from "./time.ts";
import type { Contribution, CounterState, Published, PublishPart } from "./types.ts";

/** How long an optional feature is left out after a failure: a publish that waits for it takes ten seconds. */
const PAUSE: Millis = 5 * 60_000;

/**
 * Cost: 1 write of the counter document, and what the features write. A feature whose write of a document of the app is refused is left
 * out. If an earlier attempt has failed, too, so are optional features, one after the other, for some minutes.
 *
 * @param asOf       the instant that `next` is exact for, to the last digit
 * @param isAttempt  whether an earlier attempt has failed
 * @returns `undefined` if another instance has published, or a server has written a document of the commit
 * @throws DEADLINE_EXCEEDED after ten seconds, if a client has locked a document of the commit, say. The commit may still be made,
 *         before another publish
 */
export async function publish(
  backend: Pick<Backend, "config" | "features" | "pausedUntil" | "schedule">,
  state: CounterState,
  next: Published,
  asOf: Timestamp,
  isAttempt = false,
): Promise<Timestamp | undefined> {
  const { config, features, pausedUntil, schedule } = backend;
  const { ref } = state;
  let joining = features.filter((feature) => !isPaused(feature));
  const refused: PublishPart[] = [];
  const paused: PublishPart[] = [];
  for (let failure: unknown; ; ) {
    let contributions: Awaited<ReturnType<typeof contribute>> = [];
    try {
      contributions = await withTimeout(COMMIT_TIMEOUT_MS, contribute());
      const committedAt = await commit(contributions);
      for (const feature of refused) feature.wasLeftOut?.(failure, state, config);
      return committedAt;
    } catch (error) {
      const blamed = joining.filter((feature) => feature.isRefused?.(error, state, next, config));
      const mayPause = isAttempt && blamed.length === 0 && !isPreconditionFailure(error);
      // Any of those that write, or read before that, may be what fails.
      const suspects =
        contributions.length > 0 ? contributions.filter((one) => one.addTo).map((one) => one.feature) : joining;
      const optional = mayPause ? suspects.find((feature) => feature.isOptional) : undefined;
      if (optional) await pause(optional, error);
      else if (blamed.length > 0) refused.push(...blamed);
      else if (isPreconditionFailure(error)) return undefined;
      else throw error;
      joining = joining.filter((feature) => !refused.includes(feature) && !paused.includes(feature));
      failure = error;
    }
  }

  async function contribute() {
    const all = joining.map(async (feature) => ({ feature, ...(await feature.contribute?.(state, next, config)) }));
    return await Promise.all(all);
  }

  async function commit(contributions: readonly Partial<Contribution>[]): Promise<Timestamp | undefined> {
    const { updateTime, adjusted } = state;
    const change = directChange(state, next, config);
    const document = Object.assign(
      { ...serializeCounter(ref.id, next, asOf), ...(adjusted !== undefined && { adjusted: FieldValue.delete() }) },
      ...contributions.map(({ fields }) => fields),
    );
    const batch = ref.firestore.batch();
    const parts = change && directUpdate(change, !state.direct);
    if (updateTime) batch.update(ref, { ...document, ...parts }, { lastUpdateTime: updateTime });
    else batch.create(ref, { ...document, ...(change && { direct: { ...change, count: 0, writes: 0 } }) });
    for (const one of contributions) one.addTo?.(batch);
    const [written] = await withTimeout(COMMIT_TIMEOUT_MS, batch.commit());
    return written?.writeTime;
  }

  function pauseOf({ name }: PublishPart): string {
    return `${name} ${ref.id}`;
  }

  function isPaused(feature: PublishPart): boolean {
    const key = pauseOf(feature);
    const isOver = (pausedUntil.get(key) ?? 0) <= next.asOf;
    if (isOver) pausedUntil.delete(key);
    return !isOver;
  }

  /** Leaves a feature out for some minutes, and schedules the publish after that. */
  async function pause(feature: PublishPart, error: unknown): Promise<void> {
    logError("a publish is made without an optional feature", { counter: ref.id, feature: feature.name, error });
    const due = endOfPause(ref.id, next.asOf);
    await schedule({ counterId: ref.id, due, kind: "followUp" });
    pausedUntil.set(pauseOf(feature), due);
    paused.push(feature);
  }
}

/** The same instant for every instance, and another for most counters: what fails for all must not come back for all at once. */
function endOfPause(counterId: string, asOf: Millis): Millis {
  const offset = [...counterId].reduce((sum, character) => (31 * sum + (character.codePointAt(0) ?? 0)) % PAUSE, 0);
  return (Math.floor((asOf - offset) / PAUSE) + 1) * PAUSE + offset;
}
