/** The sweep among many counters, on the emulator. */
import { logger } from "firebase-functions/logger";
import { afterEach, expect, test, vi } from "vitest";
import { toTimestamp } from "../../functions/src/counter/fields.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { admin } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";

const MINUTE = 60_000;
/** How many counters are repaired side by side. */
const PAGE = 20;

afterEach(() => vi.restoreAllMocks());

test("a sweep repairs the lost polls of many counters, and starts at another place each time", async () => {
  // No shard is folded meanwhile.
  const { backend } = inProcessBackend({ shrinkCooldown: 10 * MINUTE });
  const ids = Array.from({ length: PAGE + 4 }, (_, n) => `${n % 2 ? "likes:post" : "views:page"}${n}`);
  const log = vi.spyOn(logger, "warn").mockReturnValue();
  const random = vi.spyOn(Math, "random");
  const starts: string[] = [];
  for (const [sweep, draw] of [0, 0.7].entries()) {
    const batch = admin.batch();
    for (const id of ids) {
      const counter = backend.counters.doc(id);
      const lost = { phase: "scattered", nextPollAt: toTimestamp(Date.now() - 5 * MINUTE) };
      batch.set(counter, { asOf: toTimestamp(Date.now() - 6 * MINUTE), ...lost }, { merge: true });
      batch.set(counter.collection("shards").doc("1"), { shard: "1", count: sweep, writes: sweep });
    }
    await batch.commit();
    random.mockReturnValue(draw);
    await runSweep(backend);
    const repaired = log.mock.calls.splice(0).map(([, { counter }]) => counter as string);
    expect([...repaired].sort()).toEqual([...ids].sort());
    starts.push(repaired.slice(0, PAGE).sort().join());
    const published = await backend.counters.get();
    expect(published.docs.map((counter) => counter.get("total"))).toEqual(ids.map(() => sweep));
  }
  expect(starts[0]).not.toBe(starts[1]);
});

test("only where tasks end with the processes, a poll that is not late is scheduled again", async () => {
  const { backend, tasks } = inProcessBackend();
  const due = Date.now() + MINUTE;
  const polled = { asOf: toTimestamp(due - 2 * MINUTE), phase: "scattered", nextPollAt: toTimestamp(due) };
  await backend.counters.doc("hits:imported").set(polled);
  await runSweep(backend);
  expect(tasks).toEqual([]);
  await runSweep({ ...backend, losesTasks: true });
  expect(tasks).toEqual([{ counterId: "hits:imported", due, kind: "poll" }]);
});
