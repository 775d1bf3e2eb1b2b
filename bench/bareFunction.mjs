// A counter by hand, which coldStart.ts compares with Tally: for each event it reads one document and writes it.
import { initializeApp } from "firebase-admin/app";
import { getFirestore } from "firebase-admin/firestore";
import { onDocumentCreated } from "firebase-functions/v2/firestore";

initializeApp();
const db = getFirestore();

export const tally = {
  shardcreated: onDocumentCreated("counters/{counterId}/shards/{shardId}", async ({ data, params }) => {
    const counter = db.doc(`counters/${params.counterId}`);
    const total = (await counter.get()).get("total") ?? 0;
    await counter.set({ total: total + data.get("count") });
  }),
};
