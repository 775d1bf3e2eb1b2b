/** The README's like button, in an app whose user has not signed in. */
import { initializeApp } from "firebase/app";
import { connectAuthEmulator, getAuth } from "firebase/auth";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
// @ts-expect-error: the repository's own tsconfig has no JSX; that of the examples checks the file.
import { LikeButton } from "../../../examples/start/LikeButton.tsx";

const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
initializeApp({ projectId: process.env.GCLOUD_PROJECT as string, apiKey: "any" });
connectFirestoreEmulator(getFirestore(), host, Number(port));
connectAuthEmulator(getAuth(), `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });
createRoot(document.querySelector("#root") as HTMLElement).render(h(LikeButton, { post: "start" }));
