/** The history of a counter: what a publish replaces is written to it in the same commit. */
import type { Timestamp, WriteBatch } from "firebase-admin/firestore";
import { HISTORY, type HistoryDocument, type HistoryState } from "../../../../core/src/index.ts";
import { fieldIf, toTimestamp } from "../../counter/fields.ts";
import type { Published } from "../../counter/types.ts";
import { defineFeature } from "../../shared/feature.ts";
import { serializeWindows } from "../windows/windows.ts";
import { historyPlan, historyWrites } from "./historyPlan.ts";

export const history = defineFeature({
  ...historyPlan,
  isOptional: true,
  parse: (document) => ({ hasMinute: document.get("minuteInHistory") === true }),
  contribute({ ref, updateTime, published }, next, config) {
    const fields = fieldIf("minuteInHistory", next.history?.hasMinute || null, updateTime !== undefined);
    const writes = historyWrites(published, next, config, ref.id);
    if (writes.length === 0) return { fields };
    const addTo = (batch: WriteBatch) => {
      for (const { state, id, key, expireAt } of writes) {
        const points = { [key]: historyStateOf(state) };
        const document: HistoryDocument<Timestamp> = { points, expireAt: toTimestamp(expireAt) };
        batch.set(ref.collection(HISTORY).doc(id), document, { merge: true });
      }
    };
    return { fields, addTo };
  },
});

/** The fields of a publish that the history keeps. */
export function historyStateOf(published: Published): HistoryState<Timestamp> {
  const { total, shardCount, writes, rate, publishes, asOf, windows } = published;
  const state = { total, shardCount, writes, rate, publishes, asOf: toTimestamp(asOf) };
  return windows ? { ...state, windows: serializeWindows(windows) } : state;
}
