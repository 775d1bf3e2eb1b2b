/** A page that shows a counter and increments it. The bundler's command defines what stands in capitals. */
import { initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";

declare const PROJECT: string;
declare const EMULATOR_PORT: number;

const db = getFirestore(initializeApp({ projectId: PROJECT, apiKey: "any" }));
connectFirestoreEmulator(db, "127.0.0.1", EMULATOR_PORT);
const views = counter(db, new URLSearchParams(location.search).get("id") ?? "");
const button = document.body.appendChild(document.createElement("button"));
button.id = "views";
button.onclick = () => incrementCounter(views);
onCounter(views, ({ total }) => {
  button.textContent = String(total);
});
