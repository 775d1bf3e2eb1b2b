/** A page without Firebase: a button that is clicked often, and the total. */
import { beacon, onTotal } from "firestore-tally/beacon";
import { button, output } from "./elements.ts";

const parameters = new URLSearchParams(location.search);
const [id = "", ingest = "", totals = ""] = ["id", "ingest", "totals"].map((name) => parameters.get(name) ?? "");
const site = beacon(ingest, { flushInterval: Number(parameters.get("flushInterval")) });
button("increment", () => site.count(id));

const show = output("total", "…");
onTotal(totals, id, ({ total }) => show(total), { beacon: site });
