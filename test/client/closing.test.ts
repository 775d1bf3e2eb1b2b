/** A Node process that has closed everything ends by itself: no timer of a counter keeps it alive. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Some timers of a watch last for 15 seconds. */
const MAX_END_MS = 3_000;

const program = fileURLToPath(new URL("programs/closing.ts", import.meta.url));

test.concurrent.each([
  "a watch",
  "increments and a buffer",
  "a beacon",
  "a watch of regions",
  "an increment in regions",
  "a region that did not answer",
  "a server",
])("a process ends within three seconds after it has closed %s", async (what) => {
  const id = `closing:${what}`;
  const child = spawn(process.execPath, [program, what, id], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [said] = await once(child.stdout, "data");
  expect(String(said)).toBe("closed\n");
  const late = setTimeout(() => child.kill(), MAX_END_MS);
  const [code, signal] = await ended;
  clearTimeout(late);
  expect({ code, signal }).toEqual({ code: 0, signal: null });
});
