/** How long an increment waits for the first read of the shard count, with the real SDK and a server that never answers. */
import { describe, expect, test, vi } from "vitest";
import { queuedAtOnce, silentFirestore } from "../../testing/silentFirestore.ts";
import { counter, counterOf, refreshShardCount } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

const it = silentFirestore();

/** An increment whose outcome does not matter. */
const increment = (ref: Parameters<typeof incrementCounter>[0]) => incrementCounter(ref).catch(() => {});

describe("an increment without a known shard count", () => {
  test("waits for the read on a visible page, and goes to the queue at once when the page is hidden", async () => {
    const ref = counter(it.db, "views:left");
    increment(ref);
    await expect(queuedAtOnce(it.db, ref.path)).rejects.toThrow();
    it.page.hide();
    await queuedAtOnce(it.db, ref.path);
  });

  test("does not wait on a page that was hidden before", async () => {
    it.page.hide();
    const ref = counter(it.db, "views:hidden");
    increment(ref);
    await queuedAtOnce(it.db, ref.path);
  });

  test("does not listen to the page after the read has failed", async () => {
    const ref = counterOf(counter(it.db, "views:listeners"));
    const waiting = refreshShardCount(ref);
    expect(refreshShardCount(ref)).toBe(waiting);
    expect(it.page.listeners.size).toBe(1);
    const { connections, server } = it;
    await vi.waitUntil(() => connections.size > 0);
    server.close();
    for (const connection of connections) connection.destroy();
    await waiting;
    expect(it.page.listeners.size).toBe(0);
    expect(ref._reading).toBeUndefined();
  });
});
