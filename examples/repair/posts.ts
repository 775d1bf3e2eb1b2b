/** A counter of published posts that is compared with the posts, and repaired. */
import { counter, incrementCounterIn, reconcileCounter, setCounterSource } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

const posts = counter(db, "posts:published");

/** Call it when a server starts. The functions then compare the counter once a day. */
export async function nameSource() {
  const published = { collection: "posts", where: [{ field: "state", op: "==", value: "published" }] } as const;
  await setCounterSource(posts, published, { every: 24 * 3_600_000 });
}

/** Counts the posts that exist. Call it once all servers run `publishPost`, or when a number is in doubt. */
export async function recountPosts() {
  const { expected, drift, corrected } = await reconcileCounter(posts);
  return corrected ? `${expected} posts, corrected by ${drift}` : `${expected} posts, all counted`;
}

export async function publishPost(id: string, text: string) {
  const batch = db.batch();
  batch.create(db.doc(`posts/${id}`), { text, state: "published" });
  incrementCounterIn(batch, posts);
  await batch.commit();
}

export async function withdrawPost(id: string) {
  const batch = db.batch();
  batch.delete(db.doc(`posts/${id}`), { exists: true });
  incrementCounterIn(batch, posts, -1);
  await batch.commit();
}
