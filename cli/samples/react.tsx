"use client";
/** A view counter and a like button. Use them where your app has called `initializeApp`. This file is yours to change. */
import { getAuth, onAuthStateChanged, signInAnonymously } from "firebase/auth";
import { getFirestore } from "firebase/firestore";
import { counter, incrementCounter, undoIncrement } from "firestore-tally";
import { useCounter, useIncremented } from "firestore-tally/react";
import { useEffect, useState } from "react";

function counterOf(id: string) {
  return counter(getFirestore(), id);
}

/** Counts a view of a page and shows how many there are: <Views page="home" /> */
export function Views({ page }: { page: string }) {
  useEffect(() => {
    countView(page).catch(console.error);
  }, [page]);
  return (
    <span>
      <Total id={`views:${page}`} /> views
    </span>
  );
}

/** Counts each user once; a second click undoes it: <LikeButton post="42" /> */
export function LikeButton({ post }: { post: string }) {
  const id = `likes:${post}`;
  const user = useUser();
  const hasLiked = useIncremented(counterOf(id), user ?? undefined);
  const liked = user === null ? false : hasLiked;
  const toggle = async () => {
    const once = await userId();
    await (liked ? undoIncrement(counterOf(id), once) : incrementCounter(counterOf(id), 1, { once }));
  };
  return (
    <button
      type="button"
      aria-pressed={liked}
      disabled={liked === undefined}
      onClick={() => toggle().catch(console.error)}
    >
      {liked ? "♥" : "♡"} <Total id={id} />
    </button>
  );
}

/** The rules may end a listener. So each user gets a new one. */
function Total({ id }: { id: string }) {
  const user = useUser();
  return user === undefined ? "…" : <UsersTotal key={user} id={id} />;
}

function UsersTotal({ id }: { id: string }) {
  return useCounter(counterOf(id)).total ?? "…";
}

/** The pages that this load of the app has counted: React's StrictMode runs an effect twice. */
const counted = new Set<string>();

async function countView(page: string) {
  if (counted.has(page)) return;
  counted.add(page);
  await shown();
  // Sign in first: Firestore holds a write back while another user is signed in.
  await userId();
  await incrementCounter(counterOf(`views:${page}`));
}

/** The uid of the signed-in user: `undefined` until the first sign-in, `null` after a sign-out or a failed sign-in. */
function useUser() {
  const [user, setUser] = useState<string | null>();
  useEffect(() => {
    userId().catch(() => setUser(null));
    return onAuthStateChanged(getAuth(), (next) => setUser((before) => next?.uid ?? (before && null)));
  }, []);
  return user;
}

/** Resolves when the page is shown. Chrome may prerender a page that no user opens. */
async function shown() {
  const page = globalThis.document ?? {};
  if (!("prerendering" in page && page.prerendering)) return;
  await new Promise((resolve) => page.addEventListener("prerenderingchange", resolve, { once: true }));
}

let signIn: Promise<unknown> | undefined;

/** The uid of the user. Without a user, signs in anonymously: enable anonymous sign-in in the Firebase console. */
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
