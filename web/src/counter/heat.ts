/**
 * How hot each shard is: its writes per second between two looks at all of them.
 *
 * All writes of a shard that was not there before are new. A shard that has been folded is no more; what it held is in
 * `base`, whose own growth says nothing about writers, so it has no cell.
 */
import type { Look } from "./shards.ts";

export interface Cell {
  readonly index: number;
  /** Writes per second. */
  readonly heat: number;
}

/** By index. */
export type Heat = readonly Cell[];

/** Shorter ones say little: a shard takes about one write per second. */
const SHORTEST_MS = 500;

/** How much the look before still weighs, so that chance does not make the cells flicker. */
const MEMORY = 0.4;

export function heatOf(look: Look, before: Look | undefined, previous: Heat | undefined): Heat {
  const known = new Map(before?.shards.map(({ id, writes }) => [id, writes]));
  const warm = new Map(previous?.map(({ index, heat }) => [index, heat]));
  const seconds = Math.max(look.at - (before?.at ?? look.at), SHORTEST_MS) / 1_000;
  return look.shards
    .filter(({ id }) => /^\d+$/.test(id))
    .map(({ id, writes }) => {
      const index = Number(id);
      const fresh = before ? Math.max(writes - (known.get(id) ?? 0), 0) / seconds : 0;
      return { index, heat: MEMORY * (warm.get(index) ?? fresh) + (1 - MEMORY) * fresh };
    })
    .sort((a, b) => a.index - b.index);
}

/** The same shards when nobody writes to them any more. */
export function cold(heat: Heat): Heat {
  return heat.map(({ index }) => ({ index, heat: 0 }));
}

/** Whether that is more than what was left of a look long ago. */
export function isWarm({ heat }: Cell): boolean {
  return heat > 0.05;
}

/** How strongly a cell is coloured, from 0 to 1. One write per second, what a document takes, is in the upper half. */
export function colourOf(heat: number): number {
  return heat / (heat + 0.6);
}
