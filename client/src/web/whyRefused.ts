/**
 * Why the rules may have refused an increment. Firestore gives no reason; what the client has read since, or could not read, leaves few.
 * The build makes this a file of its own, which is loaded with the first refusal.
 */

/** So many marks in a window are a script's. An honest shard has some 1,500 at 100 writes a second. */
const FULL_WINDOW = 7_000;

/** What is known of a refused increment. */
export interface Refusal {
  readonly by: number;
  readonly isUndo: boolean;
  readonly isKeyed: boolean;
  /** What the key counts; `undefined` if nothing. */
  readonly counted: number | undefined;
  /** Whether the client could read its entry. */
  readonly hasReadEntry: boolean;
  /** The shard as it is; `undefined` if the client could not read it. */
  readonly shard: { readonly count: number; readonly marksInWindow: number } | undefined;
}

/** The most likely cause, and what to do. */
export function whyRefused({ by, isUndo, isKeyed, counted, hasReadEntry, shard }: Refusal): string {
  if (counted) return `the key counts ${counted}, undo that first`;
  if (!shard) return "mayRead must allow it, or Tally's block is missing";
  const isFull = Math.abs(shard.count + by) >= 2 ** 53 || shard.marksInWindow > FULL_WINDOW;
  if (isFull) return "the shard is full, of marks or at 2^53";
  if (isKeyed && !hasReadEntry && !isUndo) return "sign in, the key must be the uid";
  if (isKeyed) return "isKeyed must name the group, isAllowedKeyedAmount must allow it";
  if (by % 1) return "pass a whole number";
  return "isAllowedAmount must allow it, or isKeyed or isBounded name the group: pass { key: uid }";
}
