/**
 * Whether a list names a region as the counters do. Under another name, what it has counted would count twice, for ever.
 *
 * The field `regions` of a counter names all regions but its own. So of a name that one region has and the same counter of a second
 * region lacks, the second region is the owner. It is looked for only if the first lacks the listed name: it may have been written
 * before a region was added, whose own counters then name all others.
 */
import type { DocumentSnapshot } from "firebase-admin/firestore";

/**
 * @param name   of a region, as it is listed
 * @param its    a counter of this region
 * @param other  the same counter of another region
 * @returns      the name by which the other region knows it; `undefined` if that is the listed one, or nothing contradicts it
 */
export function knownName(
  name: string,
  its: Pick<DocumentSnapshot, "get">,
  other: Pick<DocumentSnapshot, "get">,
): string | undefined {
  const here: object | undefined = its.get("regions");
  const there: object = other.get("regions") ?? {};
  if (!here || Object.hasOwn(there, name)) return undefined;
  // A region without a register may have been taken away, and then nothing brings its name to one that was added since.
  const registers = Object.entries(there).filter(([, register]) => register);
  return registers.map(([region]) => region).find((region) => !Object.hasOwn(here, region));
}
