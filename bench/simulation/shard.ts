/** A shard document, which limits its writes as the governor does (`testkit/production/contention.ts`). */
import type { Millis } from "../../functions/src/decisions.ts";
import { restsAfter, type WriteLimits, waitFor } from "../../testkit/production/contention.ts";
import type { Marks } from "./marks.ts";

export class Shard {
  /** Of the Enterprise edition, which bills their bytes. */
  marks: Marks | undefined;
  /** The field `writes`; `undefined` while the document does not exist. */
  writes: number | undefined;
  updatedAt: Millis = 0;
  #restsAt: Millis = 0;

  /** @returns how long a write that arrives now waits; `undefined` if it is refused */
  offer(now: Millis, limits: WriteLimits): Millis | undefined {
    const wait = waitFor(this.#restsAt, now, limits);
    if (wait !== undefined) this.#restsAt = restsAfter(this.#restsAt, now, limits);
    return wait;
  }
}
