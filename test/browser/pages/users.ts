/** A page whose user counts and likes, signs in and out, and goes offline, as a test tells it. */
import { connectAuthEmulator, getAuth, onAuthStateChanged, signInWithCustomToken, signOut } from "firebase/auth";
import { disableNetwork, enableNetwork } from "firebase/firestore";
import {
  type CounterState,
  type CounterStoreOptions,
  counter,
  counterStore,
  incrementCounter,
  onIncremented,
  undoIncrement,
} from "firestore-tally";
import { app, db, id, parameters } from "./connection.ts";

const auth = getAuth(app);
connectAuthEmulator(auth, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });

let isOnline = true;
Object.defineProperty(navigator, "onLine", { get: () => isOnline });
async function setOnline(is: boolean): Promise<void> {
  isOnline = is;
  await (is ? enableNetwork(db) : disableNetwork(db));
}
if (parameters.has("offline")) await setOnline(false);
await auth.authStateReady();

const ref = counter(db, id);
const initialTotal = JSON.parse(parameters.get("initialTotal") ?? "null") ?? undefined;
const uid = () => auth.currentUser?.uid ?? "";
let state: CounterState = {};
let like: boolean | undefined;
let stop: (() => void) | undefined;
let stopFollowing: (() => void) | undefined;
const follow = () => {
  stopFollowing?.();
  like = undefined;
  const next = (now: boolean) => {
    like = now;
  };
  stopFollowing = stop && uid() ? onIncremented(ref, uid(), { next, error: () => {} }) : undefined;
};
const view = (options: CounterStoreOptions = {}) => {
  stop ??= counterStore(ref, options).subscribe((now) => {
    state = now;
  });
  follow();
};
const leave = () => {
  stop?.();
  stop = undefined;
  state = {};
  follow();
};
view({ initialTotal });
onAuthStateChanged(auth, follow);

const actions: Record<string, (argument: string) => Promise<unknown> | unknown> = {
  count: () => incrementCounter(ref),
  like: () => uid() && incrementCounter(ref, 1, { once: uid() }),
  unlike: () => uid() && undoIncrement(ref, uid()),
  "sign in": (user) => (user ? signInWithCustomToken(auth, JSON.stringify({ uid: user })) : signOut(auth)),
  view: () => stop || view(),
  leave,
  online: () => setOnline(true),
  offline: () => setOnline(false),
};

declare global {
  interface Window {
    users: { act(does: string, argument: string): void; user(): string; shown(): object };
  }
}

window.users = {
  act(does, argument) {
    Promise.resolve(actions[does]?.(argument)).catch(() => {});
  },
  user: uid,
  shown() {
    const { total, pending = false } = state;
    return { total, pending, like };
  },
};
