/** Runs a task of any kind. */
import { attempt } from "../counter/attempts.ts";
import type { Backend } from "../counter/backend.ts";
import type { CounterTask } from "../counter/cause.ts";
import type { Feature } from "../shared/feature.ts";
import { ALL_FEATURES } from "./allFeatures.ts";

const RUN: NonNullable<Feature["onTask"]> = Object.fromEntries(
  ALL_FEATURES.flatMap(({ onTask = {} }) => Object.entries(onTask)),
);

/**
 * A task of a feature that is not deployed any more does nothing.
 *
 * @throws only if the next attempt of a task that failed cannot be scheduled
 */
export async function runTask(backend: Backend, task: CounterTask): Promise<void> {
  await attempt(backend, task, async () => await RUN[task.kind]?.(backend, task));
}
