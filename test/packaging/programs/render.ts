/** A React component, rendered on a server. */
import { initializeApp } from "firebase/app";
import { getFirestore } from "firebase/firestore";
import { counter } from "firestore-tally";
import { useCounter } from "firestore-tally/react";
import { createElement } from "react";
import { renderToString } from "react-dom/server";

const db = getFirestore(initializeApp({ projectId: "any", apiKey: "any" }));

function Views() {
  return createElement("b", null, useCounter(counter(db, "views:home"), { initialTotal: 42 }).total);
}

console.log(JSON.stringify({ html: renderToString(createElement(Views)) }));
process.exit();
