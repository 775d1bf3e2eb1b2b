/** A like button for an anonymous user, who stays the same after a reload. */
import { connectAuthEmulator, getAuth, signInAnonymously } from "firebase/auth";
import { counter, getIncremented, incrementCounter, onCounter, onIncremented, undoIncrement } from "firestore-tally";
import { app, db, id } from "./connection.ts";
import { button, outcomes, output } from "./elements.ts";
import { tellShown } from "./story.ts";

const auth = getAuth(app);
connectAuthEmulator(auth, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });
await auth.authStateReady();
const { uid } = auth.currentUser ?? (await signInAnonymously(auth)).user;

const likes = counter(db, id);
const follow = outcomes();
output("uid", uid);
const show = { total: output("total", "…"), liked: output("liked", "…"), likedBefore: output("liked-before", "…") };

button("like", () => follow(incrementCounter(likes, 1, { once: uid })));
button("unlike", () => follow(undoIncrement(likes, uid)));

show.likedBefore(await getIncremented(likes, uid));
onIncremented(likes, uid, show.liked);
onCounter(likes, ({ total }) => {
  tellShown(total);
  show.total(total);
});
