/** A function that moves what a guest has counted to the account of the caller, and deletes the guest's account. */
import { getAuth } from "firebase-admin/auth";
import { HttpsError, onCall } from "firebase-functions/v2/https";
import { moveIncrements } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

export const mergeAccounts = onCall<{ guestToken: string }>(async ({ auth, data }) => {
  // The token proves that the caller owns the guest's account, too.
  const guest = await getAuth().verifyIdToken(data.guestToken);
  const isGuest = guest.firebase.sign_in_provider === "anonymous";
  if (!auth || !isGuest) {
    throw new HttpsError("permission-denied", "not a guest's ID token");
  }
  await moveIncrements(db, guest.uid, auth.uid);
  await getAuth().deleteUser(guest.uid);
});
