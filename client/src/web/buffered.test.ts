/** A buffered counter in a hidden page, with the real SDK and a server that never answers. */
import { expect, test } from "vitest";
import { isQueued, queuedAtOnce, silentFirestore } from "../../testing/silentFirestore.ts";
import { bufferedCounter } from "./buffered.ts";
import { counter } from "./counter.ts";

const it = silentFirestore();

test("a page that becomes hidden writes its buffer at once, without reading the shard count first", async () => {
  const ref = counter(it.db, "scrolls:hidden");
  const buffer = bufferedCounter(ref, { flushInterval: 3_600_000, onError: () => {} });
  buffer.increment();
  expect(await isQueued(it.db, ref.path)).toBe(false);
  it.page.hide();
  await queuedAtOnce(it.db, ref.path);
});

test.each([0, -1, Number.NaN, 2.5])("with via, maxPending cannot be %d", (maxPending) => {
  expect(() => bufferedCounter(counter(it.db, "scrolls:via"), { via: "http://127.0.0.1:1/", maxPending })).toThrow(
    expect.objectContaining({ code: "counter/invalid-option" }),
  );
});
