/** A page that counts a view with the beacon as soon as it loads, and tells the test what it sees. */
import { beacon, onTotal } from "firestore-tally/beacon";

const parameters = new URLSearchParams(location.search);
const [id = "", control = ""] = ["id", "control"].map((name) => parameters.get(name) ?? "");
const tell = (what: object) => fetch(`${control}/told`, { method: "POST", body: JSON.stringify({ id, ...what }) });

const site = beacon(`${control}/ingest`, { flushInterval: 100 });
site.count(id);
site.flush().then(() => tell({ flushed: true }));
onTotal(`${control}/totals`, id, ({ total }) => tell({ total }), { beacon: site });
// Chromium runs the timers of a page that prerenders once a second.
setTimeout(() => tell({ isPrerendering: "prerendering" in document && document.prerendering, ...localStorage }), 200);
