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
import { type Contribution, type CounterState, changedBy, type Published, type PublishHooks } from "./types.ts";

/** How long an optional feature is left out after a failure: a publish that waits for it takes ten seconds. */
const PAUSE: Millis = 5 * 60_000;

/**
 * Cost: 1 write of the counter document, and what the features write. A feature whose write of a document of the app is refused is left
 * out. If an earlier attempt has failed, too, so are optional features, one after the other, for some minutes.
 *
 * @param asOf       the instant that `next` is exact for, to the last digit
 * @param isRetry  whether an earlier attempt has failed
 * @returns `undefined` if another instance has published, or a server has written a document of the commit
 * @throws DEADLINE_EXCEEDED after ten seconds, if a client has locked a document of the commit, say. The commit may still be made,
 *         before another publish
 */
export async function publish(
  backend: Pick<Backend, "config" | "features" | "pausedUntil" | "schedule">,
  state: CounterState,
  next: Published,
  asOf: Timestamp,
  isRetry = false,
): Promise<Timestamp | undefined> {
  const { config, features, pausedUntil, schedule } = backend;
  const { ref } = state;
  /** What is left out, and the failure that it is blamed for. */
  const leftOut = new Map<PublishHooks, unknown>(features.filter(isPaused).map((feature) => [feature, undefined]));
  for (;;) {
    let contributions: readonly Contributed[] = [];
    try {
      contributions = await withTimeout(COMMIT_TIMEOUT_MS, contribute());
      const committedAt = await commit(contributions);
      for (const [feature, failure] of leftOut) if (failure !== undefined) feature.wasLeftOut?.(failure, state, config);
      return committedAt;
    } catch (error) {
      const blamed = joining().filter((feature) => feature.isRefused?.(error, state, next, config));
      for (const feature of blamed) leftOut.set(feature, error);
      if (blamed.length > 0) continue;
      if (isPreconditionFailure(error)) return undefined;
      const optional = isRetry ? suspects(contributions).find((feature) => feature.isOptional) : undefined;
      if (!optional) throw error;
      await pause(optional, error);
      leftOut.set(optional, undefined);
    }
  }

  function joining(): readonly PublishHooks[] {
    return features.filter((feature) => !leftOut.has(feature));
  }

  /** What may have failed: those that write other documents, or read some before that. */
  function suspects(contributions: readonly Contributed[]): readonly PublishHooks[] {
    return contributions.length > 0
      ? contributions.flatMap(({ addTo, feature }) => (addTo ? [feature] : []))
      : joining();
  }

  async function contribute(): Promise<readonly Contributed[]> {
    const all = joining().map(async (feature) => ({
      feature,
      fields: {},
      ...(await feature.contribute?.(state, next, config)),
    }));
    return await Promise.all(all);
  }

  async function commit(contributions: readonly Contributed[]): Promise<Timestamp | undefined> {
    const { updateTime, adjusted } = state;
    const change = directChange(state, next, config);
    const document = changedBy<object>(
      { ...serializeCounter(ref.id, next, asOf), ...(adjusted !== undefined && { adjusted: FieldValue.delete() }) },
      contributions.map(({ fields }) => fields),
    );
    const batch = ref.firestore.batch();
    const parts = change && directUpdate(change, !state.direct);
    if (updateTime) batch.update(ref, { ...document, ...parts }, { lastUpdateTime: updateTime });
    else batch.create(ref, { ...document, ...(change && { direct: { ...change, count: 0, writes: 0 } }) });
    for (const one of contributions) one.addTo?.(batch);
    const [written] = await withTimeout(COMMIT_TIMEOUT_MS, batch.commit());
    return written?.writeTime;
  }

  function pauseOf({ name }: PublishHooks): string {
    return `${name} ${ref.id}`;
  }

  function isPaused(feature: PublishHooks): boolean {
    const key = pauseOf(feature);
    const isOver = (pausedUntil.get(key) ?? 0) <= next.asOf;
    if (isOver) pausedUntil.delete(key);
    return !isOver;
  }

  /** Leaves a feature out for some minutes, and schedules the publish after that. */
  async function pause(feature: PublishHooks, error: unknown): Promise<void> {
    logError("a publish is made without an optional feature", { counter: ref.id, feature: feature.name, error });
    const due = endOfPause(ref.id, next.asOf);
    await schedule({ counterId: ref.id, due, kind: "followUp" });
    pausedUntil.set(pauseOf(feature), due);
  }
}

/** What a feature contributes. */
interface Contributed extends Contribution {
  readonly feature: PublishHooks;
}

/** The same instant for every instance, and another for most counters: what fails for all must not come back for all at once. */
function endOfPause(counterId: string, asOf: Millis): Millis {
  const offset = [...counterId].reduce((sum, character) => (31 * sum + (character.codePointAt(0) ?? 0)) % PAUSE, 0);
  return (Math.floor((asOf - offset) / PAUSE) + 1) * PAUSE + offset;
}
