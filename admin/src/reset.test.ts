import type { Firestore } from "firebase-admin/firestore";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CounterError } from "../../core/src/index.ts";
import { ADJUSTMENT_RETRIES } from "./base.ts";
import { counter } from "./counter.ts";
import { resetCounter } from "./reset.ts";

describe("a reset of a counter whose base is written all the time", () => {
  /** Random numbers asked for; the pauses of backoff are 0 with them. */
  let jitter: ReturnType<typeof vi.spyOn>;
  beforeEach(() => {
    jitter = vi.spyOn(Math, "random").mockReturnValue(0);
    vi.spyOn(console, "warn").mockImplementation(() => {});
  });
  afterEach(() => vi.restoreAllMocks());

  const FAILED_PRECONDITION = Object.assign(new Error("base has changed"), { code: 9 });

  /** A counter without shards whose first commits fail. The last of them ends a test that would go on for ever. */
  function contended(failures: number) {
    const calls = { listings: 0, commits: 0 };
    const list = async () => {
      calls.listings++;
      return { docs: [] };
    };
    const firestore = {
      collection: () => ({ select: () => ({ get: list }) }),
      getAll: async () => [],
      runTransaction: (use: (transaction: object) => unknown) =>
        use({ get: (target: { get(): unknown }) => target.get() }),
      doc: (path: string) => ({ path, get: async () => ({ get: () => undefined }) }),
      batch: () => ({
        create: () => {},
        set: () => {},
        commit: async () => {
          if (++calls.commits > 100) throw new Error("still trying");
          if (calls.commits <= failures) throw FAILED_PRECONDITION;
        },
      }),
    };
    return { calls, ref: counter(firestore as unknown as Firestore, "stock:shoes") };
  }

  test("lists the shards again, after a pause, and succeeds once base does not change", async () => {
    const { calls, ref } = contended(ADJUSTMENT_RETRIES);
    jitter.mockClear();
    await resetCounter(ref, 5);
    expect(calls).toEqual({ listings: ADJUSTMENT_RETRIES + 1, commits: ADJUSTMENT_RETRIES + 1 });
    expect(jitter).toHaveBeenCalledTimes(ADJUSTMENT_RETRIES);
  });

  test("ends with counter/contention, which says what to do", async () => {
    const { calls, ref } = contended(Number.POSITIVE_INFINITY);
    const error = await resetCounter(ref, 5).catch((error) => error);
    expect(error).toBeInstanceOf(CounterError);
    expect(error).toMatchObject({ code: "counter/contention", cause: FAILED_PRECONDITION });
    expect(error.message).toMatch(/"stock:shoes" was changed .* count whole units/);
    expect(calls).toEqual({ listings: ADJUSTMENT_RETRIES + 1, commits: ADJUSTMENT_RETRIES + 1 });
  });
});
