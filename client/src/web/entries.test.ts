/** Whether a `once` counts, with the real SDK and without a server. */
import { deleteApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, doc, getFirestore, onSnapshot, setLogLevel, terminate } from "firebase/firestore";
import { expect, test, vi } from "vitest";
import { entryPath } from "../../../core/src/index.ts";
import { counter } from "./counter.ts";
import { onIncremented } from "./entries.ts";

test("an empty cache does not say that an increment does not count", async () => {
  setLogLevel("silent");
  const app = initializeApp({ projectId: "demo-tally-entries" }, "entries");
  const db = getFirestore(app);
  connectFirestoreEmulator(db, "127.0.0.1", 1);
  const likes = counter(db, "likes:offline");
  const seen: boolean[] = [];
  const stop = onIncremented(likes, "alice", (liked) => seen.push(liked));
  let fromCache = false;
  onSnapshot(doc(db, entryPath(likes.path, "alice")), (entry) => {
    fromCache = entry.metadata.fromCache && !entry.exists();
  });
  await vi.waitUntil(() => fromCache, { timeout: 15_000 });
  expect(seen).toEqual([]);
  stop();
  await terminate(db);
  await deleteApp(app);
  setLogLevel("error");
});
