/**
 * Whether a list names a region as the counters do. Under another name, what it has counted would count twice, for ever.
 *
 * The field `regions` of a counter names all regions but its own. So a name that region A's counter has and region B's counter
 * lacks is B's own. It is looked for only if A's counter lacks the listed name: it may be older than a region that was added since.
 */
import type { DocumentSnapshot } from "firebase-admin/firestore";

/**
 * @param listed  the name of region B in the list
 * @param own     a counter of B
 * @param other   the same counter of region A
 * @returns       the name by which A knows B; `undefined` if nothing contradicts the list
 */
export function contradictedName(
  listed: string,
  own: Pick<DocumentSnapshot, "get">,
  other: Pick<DocumentSnapshot, "get">,
): string | undefined {
  const here: object = own.get("regions") ?? {};
  const there: object = other.get("regions") ?? {};
  // Before B has heard of a region, it lacks also the names of those that were taken away.
  if (!Object.values(here).some(Boolean) || Object.hasOwn(there, listed)) return undefined;
  // A name without a register may be that of a region that was taken away.
  const registers = Object.entries(there).filter(([, register]) => register);
  return registers.map(([region]) => region).find((region) => !Object.hasOwn(here, region));
}
