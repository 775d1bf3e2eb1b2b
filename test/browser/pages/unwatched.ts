/** A button that counts, on a page that does not watch the counter. */
import { counter, incrementCounter } from "firestore-tally";
import { db, id } from "./connection.ts";
import { button, outcomes } from "./elements.ts";

const ref = counter(db, id);
const follow = outcomes();
button("increment", () => follow(incrementCounter(ref)));
