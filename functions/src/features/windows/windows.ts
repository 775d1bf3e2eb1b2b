/** Windows as Firestore has them: parsed, because a server may have damaged them, and serialized. */
import type { Timestamp } from "firebase-admin/firestore";
import {
  type CounterWindow,
  type CounterWindowName,
  type CounterWindows,
  eachWindow,
} from "../../../../core/src/index.ts";
import { fieldIf, finite, millis, toTimestamp } from "../../counter/fields.ts";
import type { Millis } from "../../counter/time.ts";
import { defineFeature } from "../../shared/feature.ts";
import { windowsPlan } from "./windowsPlan.ts";

export function parseWindows(value: unknown): CounterWindows<Millis> | null {
  const { timeZone, ...counts } = (value ?? {}) as Partial<CounterWindows<Timestamp>>;
  const countIn = (window: CounterWindowName) => {
    const { until, total } = counts[window] ?? {};
    return { until: millis(until) ?? 0, total: finite(total) };
  };
  return typeof timeZone === "string" ? { timeZone, ...eachWindow(countIn) } : null;
}

export function serializeWindows({ timeZone, ...counts }: CounterWindows<Millis>): CounterWindows<Timestamp> {
  const serialized = ({ until, total }: CounterWindow<Millis>) => ({ until: toTimestamp(until), total });
  return { timeZone, ...eachWindow((window) => serialized(counts[window])) };
}

export const windows = defineFeature({
  ...windowsPlan,
  parse: (document) => parseWindows(document.get("windows")),
  contribute: ({ updateTime }, { windows = null }) => ({
    fields: fieldIf("windows", windows && serializeWindows(windows), updateTime !== undefined),
  }),
});
