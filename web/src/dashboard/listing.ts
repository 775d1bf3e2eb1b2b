/**
 * Which counters to list, as one query that the indexes allow, whatever is asked for.
 *
 * `likes:` is a group, which can be in any order. Anything else is how ids begin, and those come in the order of ids: a
 * query cannot have a range of ids and the order of another field.
 */
import { documentId, endBefore, orderBy, type QueryConstraint, startAt, where } from "firebase/firestore";
import type { Order, Question } from "../page/route.ts";

export interface Listing {
  readonly group?: string;
  readonly prefix?: string;
  readonly order: Order;
}

export function listingOf({ search, order }: Question): Listing {
  const text = search.trim();
  if (text === "") return { order };
  if (/^[^:]+:$/.test(text)) return { group: text.slice(0, -1), order };
  return { prefix: text, order: "id" };
}

export function constraintsOf({ group, prefix, order }: Listing): QueryConstraint[] {
  const constraints: QueryConstraint[] = group === undefined ? [] : [where("group", "==", group)];
  constraints.push(order === "id" ? orderBy(documentId()) : orderBy(order, "desc"));
  // The last of all characters that an id may have.
  if (prefix !== undefined) constraints.push(startAt(prefix), endBefore(`${prefix}\u{10ffff}`));
  return constraints;
}
