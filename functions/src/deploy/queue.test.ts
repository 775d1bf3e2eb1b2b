import fc from "fast-check";
import type { Functions } from "firebase-admin/functions";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CounterTask, Schedule } from "../counter/cause.ts";
import { FUNCTION_OF_TASK } from "./functions.ts";
import { cloudTasks, timers } from "./queue.ts";

describe("timers", () => {
  const now = 1_700_000_000_000;
  const task: CounterTask = { counterId: "likes:post42", due: now + 5_000, kind: "followUp" };
  let ran: CounterTask[];
  let schedule: Schedule;

  beforeEach(() => {
    vi.useFakeTimers({ now });
    ran = [];
    schedule = timers(async (one) => {
      ran.push(one);
    }, Date.now);
  });
  afterEach(() => vi.useRealTimers());

  test("run a task once when it is due, however often it was scheduled", async () => {
    for (let i = 0; i < 5; i++) {
      await schedule({ ...task });
      await vi.advanceTimersByTimeAsync(999);
    }
    await vi.advanceTimersByTimeAsync(4);
    expect([Date.now(), ran]).toEqual([task.due - 1, []]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ran).toEqual([task]);
    await vi.runAllTimersAsync();
    expect(ran).toEqual([task]);
  });

  test("distinguish tasks by counter, due time and kind", async () => {
    const others: CounterTask[] = [
      task,
      { ...task, counterId: "likes:post4" },
      { ...task, due: task.due + 0.5 },
      { ...task, kind: "poll" },
    ];
    for (const one of others) await schedule(one);
    await vi.runAllTimersAsync();
    expect(ran).toHaveLength(4);
    expect(ran).toEqual(expect.arrayContaining(others));
  });

  test("run no task before it is due, even if the timer goes off early by the clock", async () => {
    let behind = 0;
    const clock = () => Date.now() - behind;
    const ranAt: number[] = [];
    await timers(async () => void ranAt.push(clock()), clock)(task);
    behind = 3;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([clock(), ranAt]).toEqual([task.due - 3, []]);
    await vi.advanceTimersByTimeAsync(3);
    expect(ranAt).toEqual([task.due]);
    await vi.runAllTimersAsync();
    expect(ranAt).toHaveLength(1);
  });

  test("run no task a fraction of a millisecond early", async () => {
    const ranAt: number[] = [];
    await timers(async () => void ranAt.push(Date.now()), Date.now)({ ...task, due: task.due + 0.5 });
    await vi.runAllTimersAsync();
    expect(ranAt).toEqual([task.due + 1]);
  });

  test("run a task that is overdue at once", async () => {
    await schedule({ ...task, due: now - 1_000 });
    await vi.advanceTimersByTimeAsync(1);
    expect(ran).toHaveLength(1);
  });

  test("run a task again that is scheduled again after it has started", async () => {
    const again: Schedule = timers(async (one) => {
      ran.push(one);
      if (ran.length < 3) await again(one);
    }, Date.now);
    await again(task);
    await vi.runAllTimersAsync();
    expect(ran).toEqual([task, task, task]);
  });
});

describe("Cloud Tasks", () => {
  const queueing = (enqueue: (task: CounterTask, options: { id: string }) => Promise<void>) =>
    cloudTasks({ taskQueue: () => ({ enqueue }) } as unknown as Functions, "us-central1");
  // Few, so that some are equal in part.
  const ids = fc.oneof(fc.constantFrom("x", "1", "x\n1"), fc.string({ minLength: 1 }));
  const tasks = fc
    .record({
      counterId: ids,
      due: fc.oneof(fc.nat(11), fc.nat()),
      kind: fc.constantFrom(...FUNCTION_OF_TASK.keys()),
      failing: fc.constantFrom({}, { failingSince: 1 }, { failingSince: 2 }),
    })
    .map(({ failing, ...task }): CounterTask => ({ ...task, ...failing }));

  test("get a name from all fields of the task, of characters that names may contain", async () => {
    await fc.assert(
      fc.asyncProperty(tasks, tasks, async (one, other) => {
        const names: string[] = [];
        const schedule = queueing(async (_, { id }) => void names.push(id));
        for (const task of [one, { ...one }, other]) await schedule(task);
        const [first = "", again, second] = names;
        expect(first).toMatch(/^[A-Za-z0-9_-]{1,500}$/);
        expect(again).toBe(first);
        const kindOf = ({ failingSince, ...rest }: CounterTask) => JSON.stringify([rest, failingSince === undefined]);
        expect(second === first).toBe(kindOf(one) === kindOf(other));
      }),
    );
  });

  test("dispatch a task when it is due", async () => {
    const enqueue = vi.fn(async () => {});
    await queueing(enqueue)({ counterId: "x", due: 5_000, kind: "poll" });
    expect(enqueue).toHaveBeenCalledWith(
      { counterId: "x", due: 5_000, kind: "poll" },
      expect.objectContaining({ scheduleTime: new Date(5_000) }),
    );
  });

  test("accept that a task exists already, and reject with every other error", async () => {
    const failing = (code: string) => queueing(() => Promise.reject(Object.assign(new Error(code), { code })));
    await expect(
      failing("functions/task-already-exists")({ counterId: "x", due: 0, kind: "followUp" }),
    ).resolves.toBeUndefined();
    await expect(failing("functions/unavailable")({ counterId: "x", due: 0, kind: "followUp" })).rejects.toThrow(
      "functions/unavailable",
    );
  });
});
