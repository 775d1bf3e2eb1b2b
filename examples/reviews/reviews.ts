/** A document and its count in one commit. */

import { collection, doc, getDocFromServer, serverTimestamp, writeBatch } from "firebase/firestore";
import { counter, incrementCounterIn } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

export async function review(product: string, text: string) {
  const author = await userId();
  const ref = doc(collection(db, `products/${product}/reviews`));
  const batch = writeBatch(db);
  batch.set(ref, { author, text, at: serverTimestamp() });
  incrementCounterIn(batch, counter(db, `reviews:${product}`));
  try {
    await batch.commit();
  } catch (error) {
    // Refused, or committed before the connection was cut and then sent again?
    if ((error as { code?: string }).code !== "permission-denied") throw error;
    const found = await getDocFromServer(ref).catch(() => undefined);
    if (!found?.exists()) throw error;
  }
  return ref.id;
}
