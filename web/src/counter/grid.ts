/**
 * Where the cells of the shards stand: one row that is divided ever more finely, and more rows once a cell would become
 * too narrow to be seen. The area stays the same, so nothing moves on the page when a counter grows.
 */

/** The least width of a cell in one row. */
const NARROWEST = 6;

/** A cell is no more than so many times as wide as it is high: one shard alone is a cell, not a bar. */
const WIDEST = 1.6;

export interface Grid {
  readonly rows: number;
  /** In one row not a whole number, while the cells divide. */
  readonly columns: number;
}

export function gridOf(count: number, width: number, height: number): Grid {
  const perRow = Math.max(Math.floor(width / NARROWEST), 1);
  if (count <= perRow) return { rows: 1, columns: Math.max(count, Math.floor(width / (WIDEST * height)), 1) };
  // Cells that are about square.
  const rows = Math.min(Math.max(Math.round(Math.sqrt((count * height) / width)), 2), Math.floor(height / 3));
  return { rows, columns: Math.ceil(count / rows) };
}
