import { describe, expect, test } from "vitest";
import type { Unit } from "./events.ts";
import { createGrouping, MAX_WAITING, Overloaded, REQUEST } from "./grouping.ts";

/** Units of `size` events each, with the ids. */
const unit = (id?: string, size = 1): Unit => ({
  id,
  of: "batch",
  events: Array.from({ length: size }, (_, index) => {
    return { index, id: undefined, counter: "views:a", by: 1, visitor: undefined, item: undefined, at: undefined };
  }),
});

/** A grouping whose commits end when the test says so. */
function startGrouping() {
  const commits: { units: readonly Unit[]; end(duplicates?: Unit[]): void; fail(error: Error): void }[] = [];
  const windows: (() => void)[] = [];
  const add = createGrouping(
    (units) =>
      new Promise((resolve, reject) => {
        commits.push({ units, end: (duplicates = []) => resolve(new Set(duplicates)), fail: reject });
      }),
    () => new Promise((resolve) => windows.push(resolve)),
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const endWindow = async () => {
    windows.shift()?.();
    await turn();
  };
  return { add, commits, endWindow, turn };
}

describe("requests", () => {
  test("that arrive within a window share a commit, and each gets its own count", async () => {
    const { add, commits, endWindow } = startGrouping();
    const known = unit("b", 2);
    const answers = [add([unit()]), add([unit("a"), known])];
    await endWindow();
    expect(commits.map(({ units }) => units.length)).toEqual([3]);
    commits[0]?.end([known]);
    expect(await Promise.all(answers)).toEqual([
      { counted: 1, duplicates: 0 },
      { counted: 1, duplicates: 2 },
    ]);
  });

  test("that arrive while four commits are pending share the next one", async () => {
    const { add, commits, endWindow, turn } = startGrouping();
    for (let n = 0; n < 6; n++) {
      void add([unit()]);
      await endWindow();
    }
    expect(commits).toHaveLength(4);
    commits[0]?.end();
    await turn();
    expect(commits.map(({ units }) => units.length)).toEqual([1, 1, 1, 1, 2]);
  });

  test("of more than 500 ids and counters are divided between commits, but no request is", async () => {
    const { add, commits, endWindow } = startGrouping();
    for (const [n, size] of [300, 200, 299, 800].entries()) {
      void add(Array.from({ length: size }, (_, i) => unit(`${n}/${i}`)));
    }
    await endWindow();
    expect(commits.map(({ units }) => units.length)).toEqual([300, 499, 800]);
  });

  test("are committed one by one if Firestore refuses their group, but not if it does not answer", async () => {
    const { add, commits, endWindow, turn } = startGrouping();
    const outcome = (answer: Promise<unknown>) => answer.catch((error) => error.message);
    const refused = [add([unit("a")]), add([unit("b")])].map(outcome);
    await endWindow();
    commits[0]?.fail(new Error("too large"));
    await turn();
    commits[1]?.fail(new Error("too large"));
    await turn();
    commits[2]?.end();
    expect(await Promise.all(refused)).toEqual(["too large", { counted: 1, duplicates: 0 }]);
    const unanswered = [add([unit("c")]), add([unit("d")])].map(outcome);
    await endWindow();
    commits[3]?.fail(Object.assign(new Error("no answer"), { code: "counter/unknown-outcome" }));
    expect(await Promise.all(unanswered)).toEqual(["no answer", "no answer"]);
    expect(commits).toHaveLength(4);
  });

  test("with the id of one that is being committed wait for it", async () => {
    const { add, commits, endWindow } = startGrouping();
    const answers = [add([unit("a")]), add([unit("a"), unit("b")])];
    await endWindow();
    expect(commits[0]?.units.map(({ id }) => id)).toEqual(["a", "b"]);
    commits[0]?.end();
    expect(await Promise.all(answers)).toEqual([
      { counted: 1, duplicates: 0 },
      { counted: 1, duplicates: 1 },
    ]);
  });

  test("that have been committed lately need no other commit, and their ids are not those of events", async () => {
    const { add, commits, endWindow } = startGrouping();
    const first = add([unit("a", 2), unit("b")]);
    await endWindow();
    commits[0]?.end([]);
    await first;
    expect(await add([unit("a", 2)])).toEqual({ counted: 0, duplicates: 2 });
    const mixed = add([unit("a"), unit("c"), { ...unit("a"), of: "event" }]);
    await endWindow();
    expect(commits[1]?.units.map(({ id, of }) => [id, of])).toEqual([
      ["c", "batch"],
      ["a", "event"],
    ]);
    commits[1]?.end();
    expect(await mixed).toEqual({ counted: 2, duplicates: 1 });
  });

  test("fail with their commit; later ones do not, and may have the same ids", async () => {
    const { add, commits, endWindow } = startGrouping();
    const answers = [add([unit("a")]), add([unit("a")])].map((answer) => answer.catch((error) => error.message));
    await endWindow();
    commits[0]?.fail(new Error("no"));
    expect(await Promise.all(answers)).toEqual(["no", "no"]);
    const again = add([unit("a")]);
    await endWindow();
    commits[1]?.end();
    expect(await again).toEqual({ counted: 1, duplicates: 0 });
  });

  test("beyond what an instance can hold are refused, until others are committed", async () => {
    const { add, commits, endWindow, turn } = startGrouping();
    const first = add([unit(undefined, MAX_WAITING - 2 * REQUEST - 1)]);
    const second = add([unit()]);
    await expect(add([unit()])).rejects.toThrow(Overloaded);
    await endWindow();
    commits[0]?.end();
    await Promise.all([first, second]);
    void add([unit(undefined, MAX_WAITING - REQUEST)]);
    await turn();
    await expect(add([unit()])).rejects.toThrow(Overloaded);
  });
});
