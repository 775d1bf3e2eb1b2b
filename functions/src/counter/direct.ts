/**
 * Direct increments: clients merge increments into the counter document while the counter is calm. Then no function runs. The functions
 * open the document to clients and close it, with a publish.
 *
 *                    calm: the next generation
 *        closed ─────────────────────────────▶ open ──┐ full after 20 s or more: the next generation
 *           ▲                                  │  ▲   │
 *           └──────────────────────────────────┘  └───┘
 *             polled, or full within 20 s
 *
 * Each direct write leaves a mark, and a generation takes {@link MAX_DIRECT_MARKS}. Once it is full, clients write a shard, which triggers a
 * function. So a crowd is seen after a few writes, and no client can block publishes by direct writes for long.
 *
 * Generations never come back. So a write that was refused because its generation was full, over or closed is refused for ever, and its
 * client may count on a shard instead.
 */
import type { DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import { type DirectFields, MARK_WINDOWS, MAX_DIRECT_MARKS, type MarkWindow } from "../../../core/src/index.ts";
import { finite, millis } from "./fields.ts";
import type { Millis } from "./time.ts";
import type { CorePublished, CounterConfig, CounterState, Direct } from "./types.ts";

/** A counter is closed if a generation filled up sooner: then publishes cost its readers less than direct writes. */
const FAST_GENERATION: Millis = 20_000;

/** Shard writes per second, averaged over seconds, below which a closed counter is opened. */
const CALM_RATE = 0.1;

/** The field as it was read. Each part is checked, because a server may have damaged it. */
export function parseDirect(document: DocumentSnapshot): Direct | undefined {
  const stored: Partial<DirectFields<Timestamp>> | undefined = document.get("direct");
  if (typeof stored !== "object" || stored === null) return undefined;
  const generation = Math.max(Math.floor(finite(stored.generation)), 0);
  const windowOf = (before: number) => stored.marks?.[(generation - before + MARK_WINDOWS) % MARK_WINDOWS];
  const writtenAt = (window: Partial<MarkWindow<Timestamp, unknown>> | undefined) => millis(window?.at) ?? undefined;
  const nonces = windowOf(0)?.nonces;
  return {
    open: stored.open === true,
    generation,
    count: finite(stored.count),
    marks: Array.isArray(nonces) ? nonces.length : 0,
    lastWrite: writtenAt(windowOf(0)),
    lastWriteBefore: writtenAt(windowOf(1)),
  };
}

/** What a publish changes of the field. */
export type DirectChange = Partial<Pick<Direct, "open" | "generation">>;

/**
 * What the next publish changes of the field; `undefined` for nothing.
 *
 * @param next  the publish, as far as the core has planned it
 */
export function directChange(
  { direct, ...state }: Partial<CounterState>,
  { phase, rate, shardCount, total }: Pick<CorePublished, "phase" | "rate" | "shardCount" | "total">,
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
  const next = { open: true, generation: (direct?.generation ?? 0) + 1 };
  if (!direct?.open) return rate < CALM_RATE ? next : undefined;
  if (direct.marks < MAX_DIRECT_MARKS) return undefined;
  return isFast(direct) ? { open: false } : next;
}

function isFast({ lastWrite = 0, lastWriteBefore }: Direct): boolean {
  return lastWriteBefore !== undefined && lastWrite - lastWriteBefore < FAST_GENERATION;
}

/**
 * The change as values of an update, which leaves the other parts of the field as they are.
 *
 * @param removed  what removes a field. The oldest marks make room for the next generation
 */
export function serializeDirect(
  { open, generation }: DirectChange,
  isNew: boolean,
  removed: unknown,
): Record<string, unknown> {
  return {
    "direct.open": open,
    ...(generation !== undefined && {
      "direct.generation": generation,
      [`direct.marks.${generation % MARK_WINDOWS}`]: removed,
    }),
    ...(isNew && { "direct.count": 0, "direct.writes": 0 }),
  };
}
