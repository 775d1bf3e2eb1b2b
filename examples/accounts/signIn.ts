/** Turns a guest into a permanent account. */
import { type AuthCredential, linkWithCredential, signInWithCredential } from "firebase/auth";
import { auth } from "../setup/firebase.ts";

/** Of a guest whose account is not merged yet. It is good for an hour. */
let guestToken: string | undefined;

/**
 * Call it again after an error: it goes on where it ended.
 *
 * @param mergeAccounts  calls the function of that name
 */
export async function signInAs(credential: AuthCredential, mergeAccounts: (guestToken: string) => Promise<unknown>) {
  const guest = auth.currentUser;
  if (guest?.isAnonymous) {
    try {
      // The uid stays, and with it all that the guest has counted.
      return await linkWithCredential(guest, credential);
    } catch (error) {
      if ((error as { code?: string }).code !== "auth/credential-already-in-use") throw error;
    }
    guestToken = await guest.getIdToken();
  }
  const signedIn = await signInWithCredential(auth, credential);
  if (guestToken) await mergeAccounts(guestToken);
  guestToken = undefined;
  return signedIn;
}
