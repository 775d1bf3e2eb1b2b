/** Comments and claps that each user may write only so often. The rules enforce it. */
import { collection, doc, serverTimestamp } from "firebase/firestore";
import { type CounterError, counter, incrementCounterWithin, withRateLimit } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

/** Five comments in any two and a half minutes, ten claps in any minute. */
const COMMENTS = { name: "comments", interval: 30_000, burst: 5 };
const CLAPS = { name: "claps", interval: 6_000, burst: 10 };

export async function comment(post: string, text: string) {
  const author = await userId();
  const written = doc(collection(db, `posts/${post}/comments`));
  await withRateLimit(written, COMMENTS, author, (batch) =>
    batch.set(written, { author, text, at: serverTimestamp() }),
  );
  return written.id;
}

/** Returns in how many seconds the user may clap again, if that was too often. */
export async function clap(talk: string) {
  try {
    await incrementCounterWithin(counter(db, `claps:${talk}`), CLAPS, await userId());
    return 0;
  } catch (error) {
    const { code, retryAfter = 0 } = error as CounterError;
    if (code !== "counter/rate-limited") throw error;
    return Math.ceil(retryAfter / 1_000);
  }
}
