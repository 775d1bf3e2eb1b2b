import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type BufferedCounterOptions, createBuffer } from "./buffer.ts";

/** A buffer whose writes the test acknowledges or refuses. */
function harness(options: BufferedCounterOptions = {}) {
  const sent: { by: number; resolve(): void; reject(error: Error): void }[] = [];
  const errors: unknown[] = [];
  let buffered = 0;
  const write = (by: number) =>
    new Promise<void>((resolve, reject) => {
      sent.push({ by, resolve, reject });
    });
  const bufferedChanged = (by: number) => {
    buffered += by;
  };
  const buffer = createBuffer(write, bufferedChanged, { onError: (error) => errors.push(error), ...options });
  return { buffer, sent, errors, amounts: () => sent.map(({ by }) => by), buffered: () => buffered };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("a buffer", () => {
  test("writes the sum once, an interval after the first increment, then nothing without another increment", async () => {
    const { buffer, sent, amounts, buffered } = harness({ flushInterval: 1_000 });
    for (let n = 0; n < 50; n++) buffer.increment();
    expect(buffered()).toBe(50);
    await vi.advanceTimersByTimeAsync(999);
    expect(amounts()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(amounts()).toEqual([50]);
    expect(buffered()).toBe(0);
    sent[0]?.resolve();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(amounts()).toEqual([50]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("writes nothing if its increments cancel out", async () => {
    const { buffer, amounts } = harness();
    buffer.increment(3);
    buffer.increment(-3);
    await vi.advanceTimersByTimeAsync(5_000);
    await buffer.flush();
    expect(amounts()).toEqual([]);
  });

  test("writes at once when maxPending is reached, and never more than maxPending in one write", () => {
    const steps = fc.array(fc.integer({ min: -12, max: 12 }).filter((by) => by !== 0));
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), (by, maxPending) => {
        const { buffer, amounts, buffered } = harness({ maxPending });
        for (const one of by) {
          buffer.increment(one);
          expect(Math.abs(buffered())).toBeLessThan(maxPending);
        }
        for (const amount of amounts()) expect(Math.abs(amount)).toBeLessThanOrEqual(maxPending);
        expect(amounts().reduce((sum, amount) => sum + amount, buffered())).toBe(by.reduce((sum, one) => sum + one, 0));
      }),
    );
  });

  test("sends the next write only after the last one is acknowledged, as when the device is offline", async () => {
    const { buffer, sent, amounts } = harness({ flushInterval: 1_000 });
    buffer.increment();
    await vi.advanceTimersByTimeAsync(1_000);
    buffer.increment(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(amounts()).toEqual([1]);
    buffer.increment(3);
    sent[0]?.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(amounts()).toEqual([1, 5]);
  });

  test("flush resolves when all increments so far are acknowledged, including writes in flight", async () => {
    const { buffer, sent } = harness({ flushInterval: 1_000 });
    buffer.increment();
    await vi.advanceTimersByTimeAsync(1_000);
    buffer.increment();
    let flushed = false;
    const flushing = buffer.flush().then(() => {
      flushed = true;
    });
    sent[1]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(flushed).toBe(false);
    sent[0]?.resolve();
    await flushing;
  });

  test("keeps a refused amount for the next write: flush rejects, a background write calls onError", async () => {
    const { buffer, sent, amounts, errors, buffered } = harness({ flushInterval: 1_000 });
    const refusal = new Error("refused");
    buffer.increment(4);
    const flushing = buffer.flush();
    sent[0]?.reject(refusal);
    await expect(flushing).rejects.toBe(refusal);
    expect(buffered()).toBe(4);
    buffer.increment(1);
    await vi.advanceTimersByTimeAsync(1_000);
    sent[1]?.reject(refusal);
    await vi.advanceTimersByTimeAsync(0);
    expect(errors).toEqual([refusal, refusal]);
    const closing = buffer.close();
    sent[2]?.resolve();
    await closing;
    expect(amounts()).toEqual([4, 5, 5]);
    expect(buffered()).toBe(0);
  });

  test("writes a refused amount again in steps of maxPending", async () => {
    const { buffer, sent, amounts } = harness({ flushInterval: 1_000, maxPending: 100 });
    buffer.increment(60);
    const flushing = buffer.flush();
    sent[0]?.reject(new Error("signed out"));
    await expect(flushing).rejects.toThrow();
    buffer.increment(90);
    const closing = buffer.close();
    for (const { resolve } of sent.slice(1)) resolve();
    await closing;
    expect(amounts()).toEqual([60, 100, 50]);
  });

  test("refuses increments after close, and invalid amounts and options always", async () => {
    const { buffer } = harness();
    expect(() => buffer.increment(Number.NaN)).toThrow(expect.objectContaining({ code: "counter/invalid-amount" }));
    await buffer.close();
    expect(() => buffer.increment()).toThrow(expect.objectContaining({ code: "counter/closed" }));
    for (const bad of [{ flushInterval: 0 }, { maxPending: -1 }, { maxPending: Number.NaN }]) {
      expect(() => harness(bad)).toThrow(expect.objectContaining({ code: "counter/invalid-option" }));
    }
  });
});
