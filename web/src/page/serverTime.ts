/** The server's time, as far as the page knows it: ages and windows do not depend on the clock of this device. */
import type { DocumentSnapshot, Firestore } from "firebase/firestore";
import { serverNow } from "../../../client/src/web/serverTime.ts";

let ahead = 0;

/** In milliseconds since the epoch. */
export function serverTime(): number {
  return Date.now() + ahead;
}

/** Learns it from counter documents that the server has sent. @returns whether it is another one than before */
export async function learnServerTime(db: Firestore, documents: readonly DocumentSnapshot[]): Promise<boolean> {
  const [some] = documents;
  if (!some) return false;
  const before = ahead;
  ahead = (await serverNow(db, some.ref.path, documents)) - Date.now();
  return Math.abs(ahead - before) > 1_000;
}
