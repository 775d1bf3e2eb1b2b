/** Turns a guest into a permanent account. */
import { type AuthCredential, linkWithCredential, signInWithCredential } from "firebase/auth";
import { auth } from "../setup/firebase.ts";

/** @param mergeAccounts  calls the function of that name */
export async function signInAs(credential: AuthCredential, mergeAccounts: (guestToken: string) => Promise<unknown>) {
  const guest = auth.currentUser;
  if (!guest?.isAnonymous) return await signInWithCredential(auth, credential);
  try {
    // The uid stays, and with it all that the guest has counted.
    return await linkWithCredential(guest, credential);
  } catch (error) {
    if ((error as { code?: string }).code !== "auth/credential-already-in-use") throw error;
  }
  const guestToken = await guest.getIdToken();
  const signedIn = await signInWithCredential(auth, credential);
  await mergeAccounts(guestToken);
  return signedIn;
}
