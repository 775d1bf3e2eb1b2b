/** A view counter and a like. Use them where your app has called `initializeApp`. This file is yours to change. */
import { getAuth, onAuthStateChanged, signInAnonymously } from "firebase/auth";
import { getFirestore } from "firebase/firestore";
import { counter, incrementCounter, onCounter, undoIncrement } from "firestore-tally";

function counterOf(id: string) {
  return counter(getFirestore(), id);
}

/** Call it when a page opens. */
export async function countView(page: string) {
  await shown();
  // Sign in first: Firestore holds a write back while another user is signed in.
  await userId();
  await incrementCounter(counterOf(`views:${page}`));
}

/** Calls `show` with each total. Returns a function that ends it. */
export function watchViews(page: string, show: (total: number) => void) {
  let stop = () => {};
  // The rules may end a listener. So each user gets a new one.
  const stopUsers = onAuthStateChanged(getAuth(), () => {
    stop();
    stop = onCounter(counterOf(`views:${page}`), ({ total }) => show(total));
  });
  return () => {
    stopUsers();
    stop();
  };
}

/** Counts each user once. */
export async function like(post: string) {
  await incrementCounter(counterOf(`likes:${post}`), 1, { once: await userId() });
}

export async function unlike(post: string) {
  await undoIncrement(counterOf(`likes:${post}`), await userId());
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
