/**
 * Ends work on Ctrl-C, or when it makes no progress for minutes.
 *
 * The library retries a call until its outcome is known. That is right on a server; a command must end when the network is
 * gone. The outcome of pending writes is then unknown.
 */
import { CommandError, FAILED, INTERRUPTED } from "./commandError.ts";
import { pluralize } from "./format.ts";

/** Longer than one counter takes to fail by itself: three aggregations of a minute each, or two minutes of retries. */
const STALL_MINUTES = 5;

/** Pending writes may have been committed or not. */
export class OutcomeUnknown extends CommandError {}

/**
 * @param work  receives a function to call after each bit of progress
 * @throws OutcomeUnknown on Ctrl-C, or after minutes without progress
 */
export async function interruptible<T>(work: (madeProgress: () => void) => Promise<T>): Promise<T> {
  let abandon = (_: OutcomeUnknown) => {};
  const abandoned = new Promise<never>((_, reject) => {
    abandon = reject;
  });
  const onInterrupt = () => abandon(new OutcomeUnknown(INTERRUPTED, "interrupted"));
  const onStall = () =>
    abandon(new OutcomeUnknown(FAILED, `gave up without progress for ${pluralize(STALL_MINUTES, "minute")}`));
  const timer = setTimeout(onStall, STALL_MINUTES * 60_000);
  process.once("SIGINT", onInterrupt);
  try {
    return await Promise.race([work(() => timer.refresh()), abandoned]);
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", onInterrupt);
  }
}
