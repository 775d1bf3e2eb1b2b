/** What the latest reading and the shown counters say together. The shown ones are watched, so they are newer. Pure. */
import { type Lateness, latenessOf } from "../counter/health.ts";
import type { Published } from "../counter/published.ts";
import type { OnCallReading } from "./readOnCall.ts";

export interface Alarm {
  readonly id: string;
  readonly text: string;
}

export interface OnCallSummary {
  readonly late: ReadonlyMap<string, Lateness>;
  readonly alarms: readonly Alarm[];
}

/**
 * @param reading  `undefined` if the visitor is no operator: then the shown counters alone tell
 * @param now      `undefined` if the shown counters may be old
 */
export function summaryOf(
  reading: OnCallReading | undefined,
  shown: readonly Published[],
  now: number | undefined,
): OnCallSummary {
  const others = reading?.others ?? [];
  const late = [
    ...(now === undefined
      ? []
      : shown.map((one) => [one.id, latenessOf(one, reading?.writes.get(one.id) ?? [], now)] as const)),
    // Since the reading, they may have been published.
    ...(reading ? others.map((one) => [one.id, latenessOf(one, [], reading.at)] as const) : []),
  ];
  return {
    late: new Map(late.flatMap(([id, lateness]) => (lateness ? [[id, lateness]] : []))),
    alarms: [
      ...[...shown, ...others].flatMap(alarmsOf),
      ...(reading?.overdue ?? []).map((id) => ({ id, text: "a reconcile is overdue" })),
    ],
  };
}

function alarmsOf({ id, malformedShards, slowSince }: Published): Alarm[] {
  return [
    ...(malformedShards.length > 0 ? [{ id, text: "a shard is left out of the total" }] : []),
    ...(slowSince !== undefined ? [{ id, text: "its sum is slow, so its shards are listed" }] : []),
  ];
}
