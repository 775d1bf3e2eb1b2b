/** A function that undoes what an account has counted, once the account is deleted. */
import { runWith } from "firebase-functions/v1";
import { undoIncrementsOf } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** Firebase retries it until it succeeds; each time it goes on where it ended. */
export const accountDeleted = runWith({ failurePolicy: true, timeoutSeconds: 540 })
  .auth.user()
  .onDelete(({ uid }) => undoIncrementsOf(db, uid));
