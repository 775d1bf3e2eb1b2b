import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Change, confirm } from "./confirm.ts";

const target = { project: "shop", database: "(default)", collection: "counters", emulator: "127.0.0.1:1" };
let printed = "";
beforeEach(() => {
  printed = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    printed += text;
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

/** Asks in a terminal. @returns `undefined` if it is confirmed, else the exit code */
async function answer(
  keys: string,
  change: Partial<Change> = {},
  isTTY = true,
  yes = false,
): Promise<number | undefined> {
  const stream = () => Object.assign(new PassThrough(), { isTTY, setRawMode: () => undefined, columns: 80 }) as never;
  const terminal = { input: stream(), output: stream() } as { input: PassThrough; output: PassThrough };
  const asked = confirm({ target, yes }, { action: "Delete likes:\u001b", ...change }, terminal as never);
  setImmediate(() => terminal.input.write(keys));
  return await asked.then(
    () => undefined,
    ({ exitCode }) => exitCode,
  );
}

test.each([
  ["y", undefined],
  ["n", 1],
  ["\r", 1],
  ["\u0003", 130],
])("a plain question answered by %j ends with %s; no is the default", async (keys, exitCode) => {
  expect(await answer(keys, { size: async () => "6 documents" })).toBe(exitCode);
  expect(printed).toContain("Delete likes:\\u{1b}: 6 documents\n");
  expect(printed).toContain('in the emulator at 127.0.0.1:1, project "shop", database "(default)"\n');
});

test.each([
  ["likes\r", undefined],
  ["like\r", 1],
  ["\r", 1],
])("a question for the word likes answered by %j ends with %s", async (keys, exitCode) => {
  expect(await answer(keys, { word: "likes" })).toBe(exitCode);
});

test("without a terminal nothing is asked: --yes is needed, with which the change is printed alone", async () => {
  const size = vi.fn();
  expect(await answer("y", { size }, false)).toBe(2);
  expect(await answer("", { size }, false, true)).toBeUndefined();
  expect(printed).toBe('Delete likes:\\u{1b} in the emulator at 127.0.0.1:1, project "shop", database "(default)".\n');
  expect(size).not.toHaveBeenCalled();
});
