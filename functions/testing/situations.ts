/** Counters in each phase, measurements of them, and steps in words, for tests of the decisions. */
import type { ListedShard } from "../../firestore/src/index.ts";
import type { Step } from "../src/counter/decide.ts";
import { toTimestamp } from "../src/counter/fields.ts";
import type { Measurement } from "../src/counter/measurement.ts";
import { MAX_LISTED_SHARDS } from "../src/counter/shards.ts";
import type { Published } from "../src/counter/types.ts";
import { idle } from "./arbitraries.ts";

export const T = idle.asOf;

export function shard(id: string, updatedAt = T - 1_000_000): ListedShard {
  return { id, count: 1, writes: 1, updatedAt: toTimestamp(updatedAt) };
}

/** What is measured at an instant: what `counter` says, but for `changes`. */
export function measured(counter: Published, at: number, changes: Partial<Measurement> = {}): Measurement {
  const { total, writes, shardDocuments: documents } = counter;
  const shards = { shards: Array.from({ length: documents }, (_, index) => shard(`${index}`)), malformed: [] };
  return { total, writes, documents, asOf: toTimestamp(at), ...(documents <= MAX_LISTED_SHARDS && shards), ...changes };
}

/** A step in words, times after {@link T} in seconds. */
export function inWords(step: Step): string {
  const seconds = (at: number) => `${(at - T) / 1_000}`;
  if (step.do === "schedule") return `schedule ${seconds(step.task.due)}`;
  if (step.do === "wait") return `wait ${step.duration / 1_000}`;
  if (step.do === "fold") return `fold from ${step.fromIndex}`;
  if (step.do !== "publish") return step.do;
  const tasks = step.tasks.map(({ due, kind }) => `, ${kind === "poll" ? "poll" : "task"} ${seconds(due)}`);
  return `publish ${step.next.phase} of ${step.next.shardCount}${tasks.join("")}`;
}

/** A published counter at T. Its interval is a second, but for a busy one: five. */
export type Situation =
  | "never published"
  | "idle"
  | "busy"
  | "scattered"
  | "quiet"
  | "shrunk"
  | "cooling"
  | "from the future";

const polled = (phase: Published["phase"], after: number, more: Partial<Published> = {}): Published => ({
  ...idle,
  shardDocuments: 3,
  phase,
  nextPollAt: T + after,
  ...more,
});
export const situations: Record<Situation, Published | undefined> = {
  "never published": undefined,
  idle,
  busy: polled("busy", 5_000, { total: 500_000, rate: 100, shardCount: 150, shardDocuments: 150 }),
  scattered: polled("scattered", 10_000, { shardCount: 3 }),
  quiet: polled("quiet", 10_000, { shardCount: 3, calmSince: T - 50_000 }),
  shrunk: polled("shrunk", 130_000, { calmSince: T - 60_000, unusedSince: T - 60_000 }),
  cooling: polled("cooling", 410_000, { calmSince: T - 190_000, unusedSince: T - 190_000 }),
  "from the future": { ...idle, asOf: T + 3_600_000 },
};

/** A test for each cell of a table. */
export function rowsOf(table: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  return Object.entries(table).flatMap(([situation, answers]) =>
    Object.entries(answers).map(([found, answer]) => [situation, found, answer] as const),
  );
}
