/**
 * Tells people that a counter had drifted: an error in the log, and an event to which their own functions can subscribe.
 *
 * By then the counter is correct again. So an event that cannot be published is logged and given up: nothing is undone,
 * and nothing tried again.
 */
import { getApp, initializeApp } from "firebase-admin/app";
import { type Channel, getEventarc } from "firebase-admin/eventarc";
import { logger } from "firebase-functions";

/** The type of the event. Its subject is the counter's id, its data a {@link Drift}. */
export const DRIFT_EVENT = "firestore-tally.v1.drift";

/** What a reconcile found, and has corrected. */
export interface Drift {
  readonly counter: string;
  readonly expected: number;
  readonly found: number;
  /** What was added to the counter. */
  readonly drift: number;
  /** The instant of the comparison, in ISO 8601. */
  readonly asOf: string;
}

export async function raiseAlarm(drift: Drift): Promise<void> {
  // Not `logger.error`, which would put a stack trace into the message: what went wrong is in the data.
  logger.write({ severity: "ERROR", message: "a counter had drifted from its source, and was corrected", ...drift });
  try {
    await driftChannel()?.publish({
      type: DRIFT_EVENT,
      subject: drift.counter,
      source: process.env.EVENTARC_CLOUD_EVENT_SOURCE ?? "firestore-tally",
      data: drift,
    });
  } catch (error) {
    logger.error("could not publish the event of a drift; it is in the log and in the counter's corrections", {
      counter: drift.counter,
      error,
    });
  }
}

let channel: Channel | undefined;

/** The channel of this deployment, if it has one; an extension publishes the events its installer has chosen. */
function driftChannel(): Channel | undefined {
  const { EVENTARC_CHANNEL, EXT_SELECTED_EVENTS } = process.env;
  if (!EVENTARC_CHANNEL) return undefined;
  channel ??= getEventarc(eventarcApp()).channel(
    EVENTARC_CHANNEL,
    EXT_SELECTED_EVENTS === undefined ? {} : { allowedEventTypes: EXT_SELECTED_EVENTS },
  );
  return channel;
}

/** The SDK asks for a token even where the emulator wants none, and a machine without an account has none to give. */
function eventarcApp() {
  if (!process.env.CLOUD_EVENTARC_EMULATOR_HOST) return getApp();
  return initializeApp(
    { credential: { getAccessToken: async () => ({ access_token: "any", expires_in: 3_600 }) } },
    "eventarc",
  );
}
