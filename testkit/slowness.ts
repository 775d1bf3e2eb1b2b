/** How slow this machine is now: limits of time in tests were set on two calm cores. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** How long `WORK` takes on each of two calm cores, in milliseconds. */
const CALM_MS = 250;

/** A machine that is slower than this is no place for tests of time. */
const MAX_SLOWNESS = 4;

const WORK = `
  const { createHash } = require("node:crypto");
  const { parentPort } = require("node:worker_threads");
  const block = Buffer.alloc(65_536);
  let documents = 0;
  for (let n = 0; n < 400; n++) {
    const hash = createHash("sha512").update(block).digest("hex");
    documents += JSON.parse(JSON.stringify(Array.from(hash, (digit, index) => ({ digit, index })))).length;
  }
  parentPort.postMessage(documents);
`;

/**
 * Runs the same work on two cores.
 *
 * @returns how many times longer it takes than on a calm machine, 1 to 4: the factor for a limit of time
 */
export async function slowness(): Promise<number> {
  const start = performance.now();
  await Promise.all([1, 2].map(() => once(new Worker(WORK, { eval: true }), "message")));
  return Math.min(Math.max((performance.now() - start) / CALM_MS, 1), MAX_SLOWNESS);
}
