/** A React app with a like button: no user is signed in at first, and the `once` can be changed and the button removed. */
import { connectAuthEmulator, getAuth, signInAnonymously } from "firebase/auth";
import { counter } from "firestore-tally";
import { createElement as h, type ReactElement, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { app, db, id } from "./connection.ts";
import { Liked } from "./Liked.ts";

const auth = getAuth(app);
connectAuthEmulator(auth, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });

function App(): ReactElement {
  const [once, setOnce] = useState<string>();
  const [mounted, setMounted] = useState(true);
  const signIn = async () => setOnce((await signInAnonymously(auth)).user.uid);
  return h(
    "div",
    null,
    h("button", { type: "button", id: "sign-in", onClick: signIn }, "sign in"),
    h("button", { type: "button", id: "other", onClick: () => setOnce("another-user") }, "other"),
    h("button", { type: "button", id: "toggle", onClick: () => setMounted(!mounted) }, "toggle"),
    h("output", { id: "once" }, once ?? ""),
    mounted && h(Liked, { of: counter(db, id), by: once }),
  );
}

createRoot(document.querySelector("#root") as HTMLElement).render(h(StrictMode, null, h(App)));
