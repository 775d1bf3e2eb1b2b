/** A React app whose counter can be changed, unmounted and shown twice. */
import { counter } from "firestore-tally";
import { createElement as h, type ReactElement, StrictMode, useState } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { Counted } from "./Counted.ts";
import { db, id, parameters } from "./connection.ts";
import { tellShown } from "./story.ts";

function App(): ReactElement {
  const [shown, setShown] = useState(id);
  const [mounted, setMounted] = useState(true);
  const [twice, setTwice] = useState(false);
  const of = counter(db, shown);
  return h(
    "div",
    null,
    h("button", { type: "button", id: "toggle", onClick: () => setMounted(!mounted) }, "toggle"),
    h("button", { type: "button", id: "twice", onClick: () => setTwice(true) }, "twice"),
    h("button", { type: "button", id: "change", onClick: () => setShown(parameters.get("other") ?? "") }, "change"),
    mounted && h(Counted, { of, onRender: (total) => total !== undefined && tellShown(total) }),
    mounted && twice && h("div", { id: "second" }, h(Counted, { of })),
  );
}

const root = document.querySelector("#root") as HTMLElement;
const initialTotal = parameters.get("initialTotal");
if (initialTotal === null) createRoot(root).render(h(StrictMode, null, h(App)));
else hydrateRoot(root, h(StrictMode, null, h(Counted, { of: counter(db, id), initialTotal: Number(initialTotal) })));
