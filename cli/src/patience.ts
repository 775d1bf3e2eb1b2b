/**
 * How long a command waits for work that itself never gives up: until Ctrl-C, or until nothing has moved for a while.
 *
 * The library tries a call until its outcome is known, which is right in a server. Where somebody waits, a network that
 * is gone must come to an end. The work is left as it is then, so of what is under way the outcome is not known.
 */
import { FAILED, INTERRUPTED, Stop } from "./stop.ts";
import { several } from "./words.ts";

/** Longer than one counter takes to fail by itself: three aggregations of a minute each, or some two minutes of retries. */
const PATIENCE_MINUTES = 5;

/** Work was left as it was: what was under way may be done or not. */
export class Left extends Stop {}

/**
 * @param work  is passed what to call whenever it has moved
 * @throws Left on Ctrl-C, or if nothing has moved for too long
 */
export async function patiently<T>(work: (moved: () => void) => Promise<T>): Promise<T> {
  let leave = (_: Left) => {};
  const left = new Promise<never>((_, reject) => {
    leave = reject;
  });
  const interrupt = () => leave(new Left(INTERRUPTED, "interrupted"));
  const giveUp = () => leave(new Left(FAILED, `nothing has moved for ${several(PATIENCE_MINUTES, "minute")}; gave up`));
  const timer = setTimeout(giveUp, PATIENCE_MINUTES * 60_000);
  process.once("SIGINT", interrupt);
  try {
    return await Promise.race([work(() => timer.refresh()), left]);
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", interrupt);
  }
}
