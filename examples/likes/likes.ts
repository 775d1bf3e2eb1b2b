/** A like: once per user, and back. */
import { counter, incrementCounter, onCounter, onIncremented, undoIncrement } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

export async function like(post: string) {
  await incrementCounter(counter(db, `likes:${post}`), 1, { once: await userId() });
}

export async function unlike(post: string) {
  await undoIncrement(counter(db, `likes:${post}`), await userId());
}

/** Keeps a button up to date: the number, and whether it is pressed. Returns a function that ends it. */
export async function watchLikes(post: string, show: (state: { total?: number; liked?: boolean }) => void) {
  const likes = counter(db, `likes:${post}`);
  const stopTotal = onCounter(likes, ({ total }) => show({ total }));
  const stopLiked = onIncremented(likes, await userId(), (liked) => show({ liked }));
  return () => {
    stopTotal();
    stopLiked();
  };
}
