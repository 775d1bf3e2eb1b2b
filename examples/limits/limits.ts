/** Comments and claps that each user may write only so often. The rules enforce it. */
import { collection, doc, serverTimestamp } from "firebase/firestore";
import { type CounterError, counter, incrementCounterWithRateLimit, withRateLimit } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

/** Two comments a minute, five at once; ten claps in any minute. */
const COMMENTS = { name: "comments", limit: 2, per: 60_000, burst: 5 };
const CLAPS = { name: "claps", limit: 10, per: 60_000, burst: 10 };

export async function comment(post: string, text: string) {
  const author = await userId();
  const written = doc(collection(db, `posts/${post}/comments`));
  await withRateLimit(written, { ...COMMENTS, uid: author }, (batch) =>
    batch.set(written, { author, text, at: serverTimestamp() }),
  );
  return written.id;
}

/** Returns in how many seconds the user may clap again, if that was too often. */
export async function clap(talk: string) {
  try {
    await incrementCounterWithRateLimit(counter(db, `claps:${talk}`), { ...CLAPS, uid: await userId() });
    return 0;
  } catch (error) {
    const { code, retryAfter = 0 } = error as CounterError;
    if (code !== "counter/rate-limited") throw error;
    return Math.ceil(retryAfter / 1_000);
  }
}
