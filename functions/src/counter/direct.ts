/**
 * Direct increments: clients merge increments into the counter document while the counter is calm. Then no function runs. The functions
 * open the document to clients and close it, with a publish.
 *
 *                  calm: the next but one
 *        closed ─────────────────────────────▶ open ──┐ full after 20 s or more: the next generation
 *           ▲                                  │  ▲   │
 *           └──────────────────────────────────┘  └───┘
 *             polled, or full within 20 s
 *
 * Each direct write leaves a mark, and a generation takes {@link MAX_DIRECT_MARKS}. Once it is full, clients write a shard, which triggers a
 * function. So functions notice a crowd after a few writes. Direct writes make the precondition of a publish fail, but only a few times in a
 * generation.
 *
 * Generations never come back. So a write that was refused because its generation was full, over or closed is refused for ever, and its
 * client may count on a shard instead.
 */
import { MARK_LIFETIME_SECONDS, MAX_DIRECT_MARKS } from "../../../core/src/index.ts";
import type { Millis } from "./time.ts";
import type { CorePublished, CounterConfig, CounterState, Direct } from "./types.ts";

/**
 * A counter is closed if a generation filled up sooner: then publishes cost its readers less than direct writes. The first generation of a
 * document is never fast, because no mark is before it.
 */
export const FAST_GENERATION: Millis = 20_000;

/** Shard writes per second, averaged over seconds, below which a closed counter is opened. */
export const CALM_RATE = 0.1;

/**
 * How long after its last direct write a closed counter is opened at the earliest. Its marks are then no longer needed: the SDK does not
 * send a write again that late.
 */
export const CLOSED_TIME: Millis = MARK_LIFETIME_SECONDS * 1_000;

/** What the shards had at a publish, or what was counted instead; 0 before the first one. */
export function shardTotalOf(published: Pick<CorePublished, "total" | "directCount"> | undefined): number {
  return published ? published.total - published.directCount : 0;
}

/** What a publish changes of the field. */
export type DirectChange = Pick<Direct, "open"> & Partial<Pick<Direct, "generation">>;

/**
 * What the next publish changes of the field; `undefined` for nothing.
 *
 * @param next  the publish, as far as the core has planned it
 */
export function directChange(
  { direct, ...state }: Partial<CounterState>,
  { asOf, phase, rate, shardCount, total }: Pick<CorePublished, "asOf" | "phase" | "rate" | "shardCount" | "total">,
  config: CounterConfig,
): DirectChange | undefined {
  const mayOpen =
    config.direct &&
    phase === "idle" &&
    shardCount === 1 &&
    // The rules compare integers.
    Number.isSafeInteger(total) &&
    !config.plans.some((feature) => feature.needsPublishes?.(state, config));
  if (!mayOpen) return direct?.open ? { open: false } : undefined;
  const { generation = 0, lastWriteOfAll = 0 } = direct ?? {};
  // A client may have named the next generation, was refused, and has counted elsewhere. So that generation is skipped.
  if (!direct?.open)
    return rate < CALM_RATE && asOf - lastWriteOfAll >= CLOSED_TIME
      ? { open: true, generation: generation + 2 }
      : undefined;
  if (direct.marks < MAX_DIRECT_MARKS) return undefined;
  return isFast(direct) ? { open: false } : { open: true, generation: generation + 1 };
}

function isFast({ lastWrite = 0, lastWriteBefore }: Direct): boolean {
  return lastWriteBefore !== undefined && lastWrite - lastWriteBefore < FAST_GENERATION;
}
