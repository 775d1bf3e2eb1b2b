/** An operator's account in the Auth emulator, which may read corrections. In production a server sets the claim. */
import { deleteApp, initializeApp } from "firebase-admin/app";
import { getAuth } from "firebase-admin/auth";

export const OPERATOR = { email: "operator@example.com", password: "operator" };

export async function addOperator(): Promise<void> {
  const app = initializeApp({ projectId: process.env.GCLOUD_PROJECT as string }, "operator");
  const auth = getAuth(app);
  const { uid } = await auth.getUserByEmail(OPERATOR.email).catch(() => auth.createUser(OPERATOR));
  await auth.setCustomUserClaims(uid, { operator: true });
  await deleteApp(app);
}
