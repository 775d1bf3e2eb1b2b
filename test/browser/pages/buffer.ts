/** A button that is clicked often. */
import { bufferedCounter, counter, onCounter } from "firestore-tally";
import { db, id, parameters } from "./connection.ts";
import { button, output } from "./elements.ts";

const ref = counter(db, id);
const buffer = bufferedCounter(ref, { flushInterval: Number(parameters.get("flushInterval")) });
button("increment", () => buffer.increment());

const show = { total: output("total", "…"), pending: output("pending") };
onCounter(ref, ({ total, pending }) => {
  show.total(total);
  show.pending(pending);
});
