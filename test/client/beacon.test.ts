/** Increments through the real function `ingest`: by a beacon, and by a buffered counter with the web SDK. */

import { bufferedCounter, type CounterSnapshot, counter, onCounter } from "firestore-tally";
import { beacon } from "firestore-tally/beacon";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Client, client } from "../../testkit/clients.ts";
import { type ServedFunction, serveFunction } from "../../testkit/functionServer.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

let ingest: ServedFunction;
let user: Client;
beforeAll(async () => {
  ingest = await serveFunction("ingest", {
    INGEST_COUNTERS: "/views:.*/",
    INGEST_ORIGINS: "*",
    INGEST_MAX_AMOUNT: "10",
  });
  user = client();
});
afterAll(async () => {
  await ingest.kill();
  await user.close();
});

test("a beacon counts what is above INGEST_MAX_AMOUNT in smaller parts, and drops only the counter that is not listed", async () => {
  const onError = vi.fn();
  const site = beacon(ingest.url, { onError });
  site.count("views:large", 25);
  site.count("votes:large", 2);
  site.count("views:small");
  await site.close();
  expect([await sumOfIncrements("views:large"), await sumOfIncrements("views:small")]).toEqual([25, 1]);
  const message = expect.stringMatching(/^counter\/dropped: 2 for votes:large: 403 .* is not among INGEST_COUNTERS$/);
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "counter/dropped", message }));
});

test("a buffered counter via ingest shows its increments at once and exactly once, until they are published", async () => {
  const ref = counter(user.db, "views:buffered");
  const seen: CounterSnapshot[] = [];
  const stop = onCounter(ref, (snapshot) => seen.push(snapshot));
  await until(() => seen.at(-1)?.fromCache === false, "the first snapshot");
  const buffer = bufferedCounter(ref, { via: ingest.url, flushInterval: 60_000 });
  for (let flush = 1; flush <= 3; flush++) {
    for (let n = 0; n < 4; n++) buffer.increment(5);
    await until(() => seen.at(-1)?.total === 20 * flush, "the increments");
    await buffer.flush();
  }
  await buffer.close();
  expect(await sumOfIncrements("views:buffered")).toBe(60);
  await until(async () => (await readPublished("views:buffered"))?.total === 60, "the publish");
  await until(() => seen.at(-1)?.pending === false && seen.at(-1)?.asOf !== null, "the total");
  const totals = seen.map(({ total }) => total);
  expect(totals.filter((total, i) => total < (totals[i - 1] ?? 0))).toEqual([]);
  expect(totals.at(-1)).toBe(60);
  stop();
});

test("a buffered counter via ingest takes back what is refused, and accepts whole numbers alone", async () => {
  const ref = counter(user.db, "votes:refused");
  const seen: CounterSnapshot[] = [];
  const stop = onCounter(ref, (snapshot) => seen.push(snapshot));
  await until(() => seen.length > 0, "the first snapshot");
  const onError = vi.fn();
  const buffer = bufferedCounter(ref, { via: ingest.url, onError });
  expect(() => buffer.increment(-1)).toThrow(expect.objectContaining({ code: "counter/invalid-amount" }));
  buffer.increment(2);
  await until(() => seen.at(-1)?.total === 2, "the increment");
  await expect(buffer.flush()).rejects.toMatchObject({ code: "counter/dropped" });
  await until(() => seen.at(-1)?.total === 0, "the refusal");
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "counter/dropped" }));
  await buffer.close();
  stop();
});
