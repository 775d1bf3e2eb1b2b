/**
 * Reports that a counter had drifted: an error in the log, and an event to which other functions can subscribe. By then the
 * counter is correct again, so an event that cannot be published is only logged.
 */
import { type App, getApp, getApps, initializeApp } from "firebase-admin/app";
import { getEventarc } from "firebase-admin/eventarc";
import { logError } from "./log.ts";

/** The type of the event. Its subject is the counter's id, its data a {@link Drift}. */
export const DRIFT_EVENT = "firestore-tally.v1.drift";

/** A drift that a reconcile has found and corrected. */
export interface Drift {
  readonly counter: string;
  readonly expected: number;
  readonly found: number;
  /** The number added to the counter. */
  readonly drift: number;
  /** The instant of the comparison, in ISO 8601. */
  readonly asOf: string;
}

export async function raiseAlarm(drift: Drift): Promise<void> {
  logError("a counter had drifted from its source, and was corrected", { ...drift });
  const { EVENTARC_CHANNEL, EVENTARC_CLOUD_EVENT_SOURCE, EXT_SELECTED_EVENTS } = process.env;
  if (!EVENTARC_CHANNEL) return;
  // The events chosen when the extension was installed; there may be none.
  const allowed = EXT_SELECTED_EVENTS === undefined ? {} : { allowedEventTypes: EXT_SELECTED_EVENTS };
  try {
    await getEventarc(eventarcApp())
      .channel(EVENTARC_CHANNEL, allowed)
      .publish({
        type: DRIFT_EVENT,
        subject: drift.counter,
        source: EVENTARC_CLOUD_EVENT_SOURCE ?? "firestore-tally",
        data: drift,
      });
  } catch (error) {
    const { counter } = drift;
    logError("could not publish the event of a drift; the counter is correct", { counter, error });
  }
}

/** The SDK asks for a token that the emulator does not need, and that a machine without an account does not have. */
function eventarcApp(): App {
  if (!process.env.CLOUD_EVENTARC_EMULATOR_HOST) return getApp();
  const credential = { getAccessToken: async () => ({ access_token: "any", expires_in: 3_600 }) };
  return getApps().find(({ name }) => name === "eventarc") ?? initializeApp({ credential }, "eventarc");
}
