import { getApps, initializeApp } from "firebase-admin/app";
import { getFirestore } from "firebase-admin/firestore";
import { counter, getCounter } from "firestore-tally/admin";
import { Views } from "./views";

export const dynamic = "force-dynamic";

export default async function Page() {
  const app = getApps()[0] ?? initializeApp({ projectId: process.env.GCLOUD_PROJECT });
  const { total } = await getCounter(counter(getFirestore(app), "compatibility:next"));
  return <Views initialTotal={total} />;
}
