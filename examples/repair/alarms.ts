/** A function that records each drift which a scheduled reconcile has corrected. */
import { onCustomEventPublished } from "firebase-functions/v2/eventarc";
import { db } from "../setup/server.ts";

export const drifted = onCustomEventPublished("firestore-tally.v1.drift", async ({ id, data }) => {
  const { counter, expected, found, drift, asOf } = data;
  // An event may be delivered twice. Its id makes the second write the same.
  await db.doc(`alarms/${id}`).set({ counter, expected, found, drift, asOf });
});
