/** The like button of the examples, for a user who is signed in. */
import { createElement as h, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { firebaseConfig } from "../../../examples/setup/firebaseConfig.ts";

firebaseConfig.projectId = process.env.GCLOUD_PROJECT as string;
const { connectEmulators } = await import("../../../examples/setup/emulators.ts");
connectEmulators({
  FIRESTORE_EMULATOR_HOST: process.env.FIRESTORE_EMULATOR_HOST,
  FIREBASE_AUTH_EMULATOR_HOST: process.env.FIREBASE_AUTH_EMULATOR_HOST,
});
const { userId } = await import("../../../examples/setup/firebase.ts");
// @ts-expect-error: the repository's own tsconfig has no JSX; that of the examples checks the file.
const { LikeButton } = await import("../../../examples/likes/LikeButton.tsx");

const props = {
  post: new URL(location.href).searchParams.get("post"),
  user: await userId(),
  initialTotal: { total: 0, version: 0 },
};
createRoot(document.querySelector("#root") as HTMLElement).render(h(StrictMode, null, h(LikeButton, props)));
