/**
 * A page that counts a view by the code that we show: the example in React, or a sample of `init`. It increments another counter when it has
 * loaded and when it is shown, each time after the view.
 */
import { counter, incrementCounter } from "firestore-tally";
import { createElement as h, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { firebaseConfig } from "../../../examples/setup/firebaseConfig.ts";

firebaseConfig.projectId = process.env.GCLOUD_PROJECT as string;
const { connectEmulators } = await import("../../../examples/setup/emulators.ts");
connectEmulators({
  FIRESTORE_EMULATOR_HOST: process.env.FIRESTORE_EMULATOR_HOST,
  FIREBASE_AUTH_EMULATOR_HOST: process.env.FIREBASE_AUTH_EMULATOR_HOST,
});
const { db, userId } = await import("../../../examples/setup/firebase.ts");
await userId();

const parameters = new URLSearchParams(location.search);
const [code = "", page = "", probe = ""] = ["code", "page", "probe"].map((name) => parameters.get(name) ?? "");

if (code === "browser") (await import("../../../cli/samples/browser.ts")).countView(page);
else {
  const { Views } = await (code === "example"
    ? // @ts-expect-error: the repository's own tsconfig has no JSX; that of the examples checks the file.
      import("../../../examples/views/Views.tsx")
    : // @ts-expect-error: likewise
      import("../../../cli/samples/react.tsx"));
  createRoot(document.querySelector("#root") as HTMLElement).render(h(StrictMode, null, h(Views, { page })));
}

const later = () => setTimeout(() => incrementCounter(counter(db, probe)), 200);
later();
if ("prerendering" in document && document.prerendering) document.addEventListener("prerenderingchange", later);
