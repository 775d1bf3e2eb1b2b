/** Writes to documents of other regions, which their own functions write, too. */
import { ABORTED, codeOf, isPreconditionFailure } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";

/** How often writes of others may come first. */
const MAX_TRIES = 10;

/** Repeats an attempt, which reads and writes, while others write in between. @throws its error after ten attempts */
export async function untilUnchanged(sleep: Backend["sleep"], attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if ((!isPreconditionFailure(error) && codeOf(error) !== ABORTED) || tries === MAX_TRIES) throw error;
    }
    await sleep(Math.random() * 20 * tries);
  }
}
