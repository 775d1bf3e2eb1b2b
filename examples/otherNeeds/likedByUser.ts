/** All that a user has liked, for a server. */
import { db } from "../setup/server.ts";

/** 1 read per like of the user, of all posts, and of whatever else counted once for the user. */
export async function likedBy(uid: string) {
  const entries = db.collectionGroup("tallyEntries").where("once", "==", uid);
  const { docs } = await entries.get();
  return docs.map((entry) => entry.ref.parent.parent?.id);
}
