/**
 * Freshness (I2) in runs without faults: each write is published in time. A write that triggers a function is published
 * soon. So is every write while the published shard count is above one. Any other write waits for the next poll at most.
 */
import type { Settings } from "../../../functions/src/shared/feature.ts";
import type { Micros } from "../model/values.ts";
import type { Fail } from "./violation.ts";

interface UnpublishedWrite {
  readonly time: Micros;
  readonly deadline: Micros;
  readonly triggers: boolean;
}

interface CounterState {
  unpublished: UnpublishedWrite[];
  /** Of the last publish; 0 if no poll is scheduled. */
  nextPollAt: Micros;
  hasSeveralShards: boolean;
}

export class FreshnessCheck {
  readonly #config: Settings;
  readonly #fail: Fail;
  readonly #slack: Micros;
  readonly #counters = new Map<string, CounterState>();

  /** @param slack  how late a publish may be beyond its interval */
  constructor(config: Settings, fail: Fail, slack: Micros) {
    this.#config = config;
    this.#fail = fail;
    this.#slack = slack;
  }

  /** @param triggers  whether the write triggers a function */
  followWrite(counter: string, time: Micros, triggers: boolean): void {
    const state = this.#state(counter);
    const soon = time + (this.#config.maxInterval + this.#config.minInterval) * 1_000;
    const deadline = triggers || state.hasSeveralShards ? soon : Math.max(state.nextPollAt, soon);
    state.unpublished.push({ time, deadline: deadline + this.#slack, triggers });
  }

  checkPublish(
    counter: string,
    publish: { readonly asOf: Micros; readonly time: Micros; readonly shardCount: number; readonly nextPollAt: Micros },
  ): void {
    const { asOf, time, shardCount, nextPollAt } = publish;
    const state = this.#state(counter);
    const late = state.unpublished.find((write) => write.time <= asOf && write.deadline < time);
    if (late) this.#fail("I2", `a write to ${counter} was published only after ${(time - late.time) / 1_000} ms`);
    state.nextPollAt = nextPollAt;
    state.hasSeveralShards = shardCount > 1;
    // The announced poll publishes what was written during this publish.
    const pollDeadline = state.hasSeveralShards ? 0 : nextPollAt + this.#slack;
    state.unpublished = state.unpublished
      .filter((write) => write.time > asOf)
      .map((write) => (write.triggers ? write : { ...write, deadline: Math.max(write.deadline, pollDeadline) }));
  }

  /** The counter was deleted. */
  forget(counter: string): void {
    this.#counters.delete(counter);
  }

  #state(counter: string): CounterState {
    const state = this.#counters.get(counter) ?? { unpublished: [], nextPollAt: 0, hasSeveralShards: false };
    this.#counters.set(counter, state);
    return state;
  }
}
