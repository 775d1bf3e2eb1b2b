/**
 * Of `firestore.rules`, what the web client's exactness rests on: a write of a shard leaves exactly one new mark, so that
 * a replay is refused; and an entry and its increment are one commit.
 */
import { type Change, Code, Refused } from "./database.ts";
import { type Fields, isEqual, isMap, type Value } from "./values.ts";

/** @throws Refused unless the rules allow these changes to a client */
export function authorize(changes: readonly Change[]): void {
  for (const { before, after } of changes) {
    const [, counter = "", collection, id = ""] = after.path.split("/");
    const allowed =
      collection === "shards"
        ? isOneWrite(before.fields, after.fields) && (!isKeyed(counter) || isOneEntry(changes, id))
        : collection === "entries" && isKeyed(counter) && changes.length === 2;
    if (!allowed) throw new Refused(Code.PERMISSION_DENIED, after.path);
  }
}

/** The keyed groups of the default policy. */
export function isKeyed(counter: string): boolean {
  return /^(likes|votes):/.test(counter);
}

function isOneWrite(before: Fields = {}, after: Fields | undefined): boolean {
  if (after?.writes !== Number(before.writes ?? 0) + 1) return false;
  const [old, marks] = [before.marks, after.marks].map((map) => (isMap(map) ? (map as Fields) : {})) as [
    Fields,
    Fields,
  ];
  const changed = Object.keys(marks).filter((slot) => !isEqual(marks[slot], old[slot]));
  const [slot = ""] = changed;
  return changed.length === 1 && !Object.values(old).includes(marks[slot] as Value);
}

function isOneEntry(changes: readonly Change[], shard: string): boolean {
  const entries = changes.filter(({ after }) => after.path.includes("/entries/"));
  const entry = entries[0] && (entries[0].after.fields ?? entries[0].before.fields);
  const isCreatedOrDeleted = !entries[0]?.before.fields !== !entries[0]?.after.fields;
  return entries.length === 1 && isCreatedOrDeleted && entry?.shard === shard;
}
