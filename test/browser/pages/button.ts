/** A button and its total. */
import { collection, doc, onSnapshot } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { db, id } from "./connection.ts";
import { button, outcomes, output } from "./elements.ts";

const ref = counter(db, id);
const follow = outcomes();
const show = { total: output("total", "…"), pending: output("pending"), fromCache: output("from-cache") };

button("increment", () => follow(incrementCounter(ref)));

onCounter(ref, ({ total, pending, fromCache }) => {
  show.total(total);
  show.pending(pending);
  show.fromCache(fromCache);
});

// The increments in Firestore's cache or on disk, sent or not: in the document and on shards.
const kept = output("kept", 0);
const counts = [0, 0];
const keep = (place: number, count = 0) => {
  counts[place] = count;
  kept(counts.reduce((sum, one) => sum + one));
};
onSnapshot(doc(db, ref.path), { source: "cache" }, (document) => keep(0, document.get("direct.count")));
onSnapshot(collection(db, `${ref.path}/shards`), { source: "cache" }, ({ docs }) =>
  keep(
    1,
    docs.reduce((sum, shard) => sum + shard.get("count"), 0),
  ),
);
