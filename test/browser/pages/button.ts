/** A button and its total. */
import { collection, onSnapshot } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { db, id } from "./connection.ts";
import { button, outcomes, output } from "./elements.ts";
import { tellAdded, tellShown } from "./story.ts";

const ref = counter(db, id);
const follow = outcomes();
const show = { total: output("total", "…"), pending: output("pending"), fromCache: output("from-cache") };

button("increment", () => {
  tellAdded(1);
  follow(incrementCounter(ref));
});

onCounter(ref, ({ total, pending, fromCache }) => {
  tellShown(total);
  show.total(total);
  show.pending(pending);
  show.fromCache(fromCache);
});

// The increments in Firestore's cache or on disk, sent or not.
const kept = output("kept", 0);
onSnapshot(collection(db, `${ref.path}/shards`), { source: "cache" }, ({ docs }) => {
  kept(docs.reduce((sum, shard) => sum + shard.get("count"), 0));
});
