"use client";
/** A view counter and a like button. Use them where your app has called `initializeApp`. This file is yours to change. */
import { getAuth, signInAnonymously } from "firebase/auth";
import { getFirestore } from "firebase/firestore";
import { counter, incrementCounter, undoIncrement } from "firestore-tally";
import { useCounter, useIncremented } from "firestore-tally/react";
import { useEffect, useState } from "react";

/** Counts a view of a page and shows how many there are: <Views page="home" /> */
export function Views({ page }: { page: string }) {
  const { total } = useCounter(counter(getFirestore(), `views:${page}`));
  useEffect(() => {
    countView(page).catch(console.error);
  }, [page]);
  return <span>{total ?? "…"} views</span>;
}

/** Counts each user once, and back: <LikeButton post="42" /> */
export function LikeButton({ post }: { post: string }) {
  const [user, setUser] = useState<string>();
  useEffect(() => {
    userId().then(setUser, console.error);
  }, []);
  if (user === undefined)
    return (
      <button type="button" disabled>
        ♡ …
      </button>
    );
  return <UsersLikeButton post={post} user={user} />;
}

function UsersLikeButton({ post, user }: { post: string; user: string }) {
  const likes = counter(getFirestore(), `likes:${post}`);
  const { total } = useCounter(likes);
  const liked = useIncremented(likes, user);
  const toggle = () => {
    const done = liked ? undoIncrement(likes, user) : incrementCounter(likes, 1, { once: user });
    done.catch(console.error);
  };
  return (
    <button type="button" aria-pressed={liked} disabled={liked === undefined} onClick={toggle}>
      {liked ? "♥" : "♡"} {total ?? "…"}
    </button>
  );
}

/** The pages that this load of the app has counted: React's StrictMode runs an effect twice. */
const counted = new Set<string>();

async function countView(page: string) {
  if (counted.has(page)) return;
  counted.add(page);
  // A write that is under way when the user changes waits until that user is back.
  await userId();
  await incrementCounter(counter(getFirestore(), `views:${page}`));
}

let signIn: Promise<unknown> | undefined;

/** The uid of the signed-in user. Without one, signs in anonymously, once for the page: switch that on in the Firebase console. */
async function userId(): Promise<string> {
  const auth = getAuth();
  await auth.authStateReady();
  if (auth.currentUser) return auth.currentUser.uid;
  signIn ??= signInAnonymously(auth).finally(() => {
    signIn = undefined;
  });
  await signIn;
  return userId();
}
