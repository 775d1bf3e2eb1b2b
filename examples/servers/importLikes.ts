/** Brings likes along that were stored elsewhere. It can be repeated, and users may like meanwhile. */
import { FieldValue } from "firebase-admin/firestore";
import { counter, reconcileCounter } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

const ALREADY_EXISTS = 6;

const likesOf = (post: string) => counter(db, `likes:${post}`);

export async function importLikes(likes: Iterable<{ post: string; user: string }>) {
  const posts = new Set<string>();
  const writer = db.bulkWriter();
  writer.onWriteError(({ code, failedAttempts }) => code !== ALREADY_EXISTS && failedAttempts < 10);
  const entries: Promise<unknown>[] = [];
  for (const { post, user } of likes) {
    posts.add(post);
    const entry = db.doc(`counters/likes:${post}/tallyEntries/${user}`);
    const at = FieldValue.serverTimestamp();
    const like = { once: user, by: 1, shard: "0", at };
    const created = writer.create(entry, like);
    // A user who has liked here, too, counts once.
    entries.push(created.catch((error) => (error.code === ALREADY_EXISTS ? undefined : Promise.reject(error))));
  }
  await Promise.all([writer.close(), ...entries]);
  for (const post of posts) {
    await reconcileCounter(likesOf(post), { source: { entries: true } });
  }
}
