/**
 * Reports that a counter had drifted: an error in the log, and an event to which other functions can subscribe. By then the
 * counter is correct again, so an event that cannot be published is only logged.
 */
import { type App, getApp, getApps, initializeApp } from "firebase-admin/app";
import type { CounterReconciliation } from "../../../../admin/src/index.ts";
import { logError } from "../../counter/log.ts";

/** The type of the event. Its subject is the counter's id. */
export const DRIFT_EVENT = "firestore-tally.v1.drift";

export async function raiseAlarm(counter: string, reconciliation: CounterReconciliation): Promise<void> {
  const { expected, found, drift, asOf } = reconciliation;
  const data = { counter, expected, found, drift, asOf: asOf.toDate().toISOString() };
  logError("a counter had drifted from its source, and was corrected", data);
  const { EVENTARC_CHANNEL, EVENTARC_CLOUD_EVENT_SOURCE, EXT_SELECTED_EVENTS } = process.env;
  if (!EVENTARC_CHANNEL) return;
  // The events chosen when the extension was installed; there may be none.
  const allowed = EXT_SELECTED_EVENTS === undefined ? {} : { allowedEventTypes: EXT_SELECTED_EVENTS };
  try {
    // Loaded here, because drifts are rare.
    const { getEventarc } = await import("firebase-admin/eventarc");
    await getEventarc(eventarcApp())
      .channel(EVENTARC_CHANNEL, allowed)
      .publish({
        type: DRIFT_EVENT,
        subject: counter,
        source: EVENTARC_CLOUD_EVENT_SOURCE ?? "firestore-tally",
        data,
      });
  } catch (error) {
    logError("could not publish the event of a drift; the counter is correct", { counter, error });
  }
}

/** The SDK asks for a token that the emulator does not need, and that a machine without an account does not have. */
function eventarcApp(): App {
  if (!process.env.CLOUD_EVENTARC_EMULATOR_HOST) return getApp();
  const credential = { getAccessToken: async () => ({ access_token: "any", expires_in: 3_600 }) };
  return getApps().find(({ name }) => name === "eventarc") ?? initializeApp({ credential }, "eventarc");
}
