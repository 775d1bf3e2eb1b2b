/**
 * Direct increments: clients merge increments into the counter document while the counter is calm. Then no function runs. The functions
 * open the document to clients and close it, with a publish.
 *
 *                    calm: a new generation
 *        closed ─────────────────────────────▶ open ──┐ 8 marks, over 40 s or more: a new generation
 *           ▲                                  │  ▲   │
 *           └──────────────────────────────────┘  └───┘
 *             polled, or 8 marks within 40 s
 *
 * Each direct write leaves a mark, and a generation takes {@link MAX_DIRECT_MARKS}. With these the clients write a shard, whose creation or
 * update triggers a function. So a crowd is seen after 8 writes, and nobody can block a publish by direct writes for long.
 *
 * Marks are emptied only with a new generation, which no write of an earlier one can join. So a write that was refused because its
 * generation was full, over or closed is refused for ever, and its client may count on a shard instead.
 */
import type { DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import { type DirectFields, MARK_LIFETIME_SECONDS, MAX_DIRECT_MARKS } from "../../../core/src/index.ts";
import { finite, millis, toTimestamp } from "./fields.ts";
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
  const nonces = (list: unknown) => (Array.isArray(list) ? list : []);
  return {
    open: stored.open === true,
    generation: Math.max(Math.floor(finite(stored.generation)), 0),
    count: finite(stored.count),
    writes: finite(stored.writes),
    at: millis(stored.at) ?? undefined,
    since: millis(stored.since) ?? 0,
    marks: nonces(stored.marks),
    past: nonces(stored.past),
  };
}

/** What a publish changes: the parts of the field that clients do not add to. */
export type DirectChange = Partial<Omit<Direct, "at">>;

/**
 * What the next publish changes of the field; `undefined` for nothing.
 *
 * @param next  the publish, as far as the core has planned it
 */
export function directChange(
  { direct, ...state }: Partial<CounterState>,
  next: Pick<CorePublished, "asOf" | "phase" | "rate" | "shardCount" | "total">,
  config: CounterConfig,
): DirectChange | undefined {
  const { asOf, phase, rate, shardCount, total } = next;
  const mayOpen =
    config.direct &&
    phase === "idle" &&
    shardCount === 1 &&
    // The rules compare integers.
    Number.isSafeInteger(total) &&
    !config.plans.some((feature) => feature.needsPublishes?.(state, config));
  if (!mayOpen) return direct?.open ? { open: false } : undefined;
  if (!direct) return rate < CALM_RATE ? { ...NEVER_OPEN, ...newGeneration(NEVER_OPEN, asOf) } : undefined;
  if (!direct.open) return rate < CALM_RATE ? newGeneration(direct, asOf) : undefined;
  if (direct.marks.length < MAX_DIRECT_MARKS) return undefined;
  const isFast = (direct.at ?? 0) - direct.since < FAST_GENERATION;
  return isFast ? { open: false } : newGeneration(direct, asOf);
}

const NEVER_OPEN: Omit<Direct, "at"> = { open: false, generation: 0, count: 0, writes: 0, since: 0, marks: [], past: [] };

/** Keeps the marks of at least two minutes, by which clients find that a refused write counts. */
function newGeneration({ generation, since, marks, past }: Omit<Direct, "at">, asOf: Millis): DirectChange {
  const mayBeYoung = since + MARK_LIFETIME_SECONDS * 1_000 > asOf;
  return {
    open: true,
    generation: generation + 1,
    since: asOf,
    marks: [],
    past: [...(mayBeYoung ? past : []), ...marks],
  };
}

/** The changed parts as Firestore stores them. */
export function serializeDirect({ since, ...change }: DirectChange): Partial<DirectFields<Timestamp>> {
  return { ...change, ...(since !== undefined && { since: toTimestamp(since) }) };
}
