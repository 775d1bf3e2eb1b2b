/** How slow this machine is now. Time limits in tests were set on two idle cores. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** How long `WORK` takes on each of two idle cores, in milliseconds. */
const IDLE_MS = 250;

/** The largest factor. On a slower machine, tests with time limits may fail. */
const MAX_SLOWNESS = 4;

/** Further tries of a test that was late, as when the machine stalls for a moment. A wrong total has none. */
export const IF_LATE = { count: 2, condition: /to be less than/ };

const WORK = `
  const { createHash } = require("node:crypto");
  const { parentPort } = require("node:worker_threads");
  const block = Buffer.alloc(65_536);
  let digits = 0;
  for (let n = 0; n < 400; n++) {
    const hash = createHash("sha512").update(block).digest("hex");
    digits += JSON.parse(JSON.stringify(Array.from(hash, (digit, index) => ({ digit, index })))).length;
  }
  parentPort.postMessage(digits);
`;

/**
 * Runs the same work on two cores, twice.
 *
 * @returns how many times longer the quicker run takes than on an idle machine, 1 to 4: the factor for a time limit
 */
export async function slowness(): Promise<number> {
  const quicker = Math.min(await timeOfWork(), await timeOfWork());
  return Math.min(Math.max(quicker / IDLE_MS, 1), MAX_SLOWNESS);
}

/** In milliseconds. */
async function timeOfWork(): Promise<number> {
  const start = performance.now();
  await Promise.all([1, 2].map(() => once(new Worker(WORK, { eval: true }), "message")));
  return performance.now() - start;
}
