/** The history of a counter: what a publish replaces is written to it in the same commit. */
import type { Timestamp } from "firebase-admin/firestore";
import { HISTORY, type HistoryDocument, type HistoryState } from "../../../../core/src/index.ts";
import { toTimestamp } from "../../counter/fields.ts";
import type { Feature, Published } from "../../counter/types.ts";
import type { Config } from "../config.ts";
import { serializeWindows } from "../windows/fields.ts";
import { historyPlan, historyWrites } from "./history.ts";

export const history: Feature = {
  ...historyPlan,
  parse: (document) => ({ minuteInHistory: document.get("minuteInHistory") === true }),
  contribute: ({ ref, published }, next, config: Config) => ({
    fields: { minuteInHistory: next.minuteInHistory },
    addTo(batch) {
      for (const { state, id, key, expireAt } of historyWrites(published, next, config)) {
        const points = { [key]: historyStateOf(state) };
        const document: HistoryDocument<Timestamp> = { points, expireAt: toTimestamp(expireAt) };
        batch.set(ref.collection(HISTORY).doc(id), document, { merge: true });
      }
    },
  }),
};

/** The fields of a publish that the history keeps. */
export function historyStateOf(published: Published): HistoryState<Timestamp> {
  const { total, shardCount, writes, rate, publishes, asOf, windows } = published;
  const state = { total, shardCount, writes, rate, publishes, asOf: toTimestamp(asOf) };
  return { ...state, windows: windows && serializeWindows(windows) };
}
