/** A like: once per user, and back. */
import { onAuthStateChanged } from "firebase/auth";
import { counter, incrementCounter, onCounter, onIncremented, undoIncrement } from "firestore-tally";
import { auth, db, userId } from "../setup/firebase.ts";

export async function like(post: string) {
  const once = await userId();
  await incrementCounter(counter(db, `likes:${post}`), 1, { once });
}

export async function unlike(post: string) {
  await undoIncrement(counter(db, `likes:${post}`), await userId());
}

/** Keeps a button up to date: the number, and whether this user has pressed it. Returns a function that ends it. */
export function watchLikes(post: string, show: (state: { total?: number; liked?: boolean }) => void) {
  const likes = counter(db, `likes:${post}`);
  const stopTotal = onCounter(likes, ({ total }) => show({ total }));
  const showLiked = (liked: boolean) => show({ liked });
  let stopLiked = () => {};
  const stopUsers = onAuthStateChanged(auth, (user) => {
    stopLiked();
    if (user) stopLiked = onIncremented(likes, user.uid, showLiked);
    else showLiked(false);
  });
  return () => {
    stopTotal();
    stopLiked();
    stopUsers();
  };
}
