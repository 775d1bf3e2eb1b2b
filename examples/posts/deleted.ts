/** A function that deletes a post's counters once the post is deleted. */
import { onDocumentDeleted } from "firebase-functions/v2/firestore";
import { counter, deleteCounter } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** Firebase retries it until it succeeds; each time it goes on where it ended. */
export const postDeleted = onDocumentDeleted(
  { document: "posts/{post}", retry: true, timeoutSeconds: 540 },
  async ({ params: { post } }) => {
    await deleteCounter(counter(db, `likes:${post}`));
    await deleteCounter(counter(db, `views:${post}`));
  },
);
