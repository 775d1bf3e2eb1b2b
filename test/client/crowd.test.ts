/** Many clients on a new counter. `npm run bench -- --only crowd` does the same with more clients and freshly started emulators. */
import { expect, test } from "vitest";
import { client } from "../../testkit/clients.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { incrementSteadily } from "../../testkit/traffic.ts";
import { until } from "../../testkit/until.ts";

const CLIENTS = 60;
const PER_SECOND = 60;
const SECONDS = 4;

test("60 new clients with 60 increments a second on a new counter: each counts once, within seconds", async () => {
  const id = "crowd:new";
  const clients = Array.from({ length: CLIENTS }, () => client());
  const start = performance.now();
  const { acknowledged, lastAt } = await incrementSteadily(clients, id, PER_SECOND, SECONDS);
  expect(acknowledged).toBe(PER_SECOND * SECONDS);
  expect(lastAt - start).toBeLessThan(20_000);
  expect(await sumOfShards(id)).toBe(acknowledged);
  await until(async () => (await readPublished(id))?.total === acknowledged, "the total");
  // Clients use more shards only under contention, so a fast machine has few shard documents; the bench counts them.
  expect((await readPublished(id))?.shardCount).toBeGreaterThanOrEqual(PER_SECOND / 2);
  await Promise.all(clients.map((one) => one.close()));
});
