/** How many increments one batch may have: what the calls accept (`client/src/web/increment.test.ts`), the rules accept. */
import { writeBatch } from "firebase/firestore";
import { counter, incrementCounter, incrementCounterIn } from "firestore-tally";
import { expect, test } from "vitest";
import { client, signIn } from "../../testkit/clients.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";

test("the rules accept six likes of counters that exist in one batch", async () => {
  const [owner, app] = [client(), client()];
  const [other, uid] = [await signIn(owner), await signIn(app)];
  const ids = Array.from({ length: 6 }, (_, n) => `likes:batch${n}-${Date.now()}`);
  await Promise.all(ids.map((id) => incrementCounter(counter(owner.db, id), 1, { once: other })));
  const batch = writeBatch(app.db);
  for (const id of ids) incrementCounterIn(batch, counter(app.db, id), 1, { once: uid });
  await batch.commit();
  expect(await Promise.all(ids.map(sumOfIncrements))).toEqual(ids.map(() => 2));
  await Promise.all([owner.close(), app.close()]);
});
