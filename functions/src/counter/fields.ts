/** Fields of Firestore, with times in milliseconds: parsed, because a server may have damaged them, and serialized. */
import { Timestamp } from "firebase-admin/firestore";
import type { CounterWindow, CounterWindowName, CounterWindows } from "../../../core/src/index.ts";
import { type Millis, toMillis } from "./time.ts";

export function finite(value: unknown): number {
  return Number.isFinite(value) ? (value as number) : 0;
}

export function millis(value: unknown): Millis | null {
  return value instanceof Timestamp ? toMillis(value) : null;
}

/** To the microsecond. */
export function toTimestamp(millis: Millis): Timestamp {
  const micros = Math.round(millis * 1_000);
  const seconds = Math.floor(micros / 1e6);
  return new Timestamp(seconds, (micros - seconds * 1e6) * 1_000);
}

export function parseWindows(value: unknown): CounterWindows<Millis> | null {
  const { timeZone, ...counts } = (value ?? {}) as Partial<CounterWindows<Timestamp>>;
  const countIn = (window: CounterWindowName) => {
    const { until, total } = counts[window] ?? {};
    return { until: millis(until) ?? 0, total: finite(total) };
  };
  return typeof timeZone === "string"
    ? { timeZone, day: countIn("day"), week: countIn("week"), month: countIn("month") }
    : null;
}

export function serializeWindows({ timeZone, day, week, month }: CounterWindows<Millis>): CounterWindows<Timestamp> {
  const count = ({ until, total }: CounterWindow<Millis>) => ({ until: toTimestamp(until), total });
  return { timeZone, day: count(day), week: count(week), month: count(month) };
}
