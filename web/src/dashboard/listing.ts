/**
 * The Firestore query of the dashboard, one that the indexes allow.
 *
 * `likes:` is a group, in any order; what was counted today is an order of groups alone. Other text is the prefix of ids, in
 * the order of ids: a query cannot combine a range of ids with the order of another field.
 */
import { documentId, endBefore, orderBy, type QueryConstraint, startAt, where } from "firebase/firestore";
import { rankingFields } from "../../../core/src/index.ts";
import { type ListingQuery, type Order, windowOf } from "../page/route.ts";

export interface Listing {
  readonly group?: string;
  readonly prefix?: string;
  readonly order: Order;
}

export function listingOf({ search, order }: Omit<ListingQuery, "after">): Listing {
  const text = search.trim();
  if (text === "") return { order: windowOf(order) ? "total" : order };
  if (/^[^:]+:$/.test(text)) return { group: text.slice(0, -1), order };
  return { prefix: text, order: "id" };
}

export function constraintsOf({ group, prefix, order }: Listing): QueryConstraint[] {
  const constraints: QueryConstraint[] = group === undefined ? [] : [where("group", "==", group)];
  const fields =
    order === "id" ? [] : rankingFields({ window: windowOf(order), orderBy: order === "rate" ? order : "total" });
  constraints.push(
    ...fields.map((field) => orderBy(field, "desc")),
    ...(order === "id" ? [orderBy(documentId())] : []),
  );
  // The last character that an id can have.
  if (prefix !== undefined) constraints.push(startAt(prefix), endBefore(`${prefix}\u{10ffff}`));
  return constraints;
}
