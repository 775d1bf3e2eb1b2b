/**
 * The grid of shard cells: one row divided into ever narrower cells, then more rows once a cell would be too narrow to see.
 * The area stays the same, so the page does not shift when a counter grows.
 */

/** The least width of a cell in one row, in pixels. */
const MIN_CELL_WIDTH = 6;

/** The largest ratio of a cell's width to its height, so that a single shard is a cell and not a bar. */
const MAX_ASPECT_RATIO = 1.6;

export interface CellGrid {
  readonly rows: number;
  /** Fractional in one row, during the animation. */
  readonly columns: number;
}

export function cellGrid(count: number, width: number, height: number): CellGrid {
  const perRow = Math.max(Math.floor(width / MIN_CELL_WIDTH), 1);
  if (count <= perRow) return { rows: 1, columns: Math.max(count, Math.floor(width / (MAX_ASPECT_RATIO * height)), 1) };
  // About square cells.
  const rows = Math.min(Math.max(Math.round(Math.sqrt((count * height) / width)), 2), Math.floor(height / 3));
  return { rows, columns: Math.ceil(count / rows) };
}
