/**
 * The parts of `firestore.rules` that the web client's exactness depends on. A write of a shard adds exactly one mark, so a
 * replay is rejected. An entry and its increment are one commit.
 */
import {
  DIRECT,
  EARLY_MARK_MILLIS,
  LATE_MARK_MILLIS,
  MARK_LIFETIME_SECONDS,
  MARK_SLOT_MILLIS,
  MARK_SLOTS,
  MAX_LATE_NONCES,
  MAX_SLOT_NONCES,
} from "../../../core/src/index.ts";
import { planted } from "../mutations/mutation.ts";
import { type Change, Code, Refused } from "./database.ts";
import { isDirectWrite } from "./directRules.ts";
import { changedIn, isAppended, isMarked, mapOf, type Step } from "./marks.ts";
import { type Fields, isEqual, isMap, type Micros, microsOf } from "./values.ts";

/** A slot may be removed only this long after its last write. */
const MARK_LIFETIME: Micros = MARK_LIFETIME_SECONDS * 1_000_000;

/** @throws Refused unless the rules allow these changes to a client */
export function authorize(changes: readonly Change[]): void {
  for (const { before, after } of changes) {
    const [, counter = "", collection, id = ""] = after.path.split("/");
    const step = after.fields && { before: before.fields ?? {}, after: after.fields };
    // The commit time is the request time.
    const time = after.updateTime;
    const isAllowedOf = {
      undefined: () =>
        step !== undefined &&
        !isBounded(counter) &&
        isDirectWrite(step, time, counter, !before.fields) &&
        (!hasEntries(counter) || isOneEntry(changes, DIRECT, mapOf(step.before.direct), mapOf(step.after.direct))),
      shards: () =>
        step !== undefined &&
        isOneWrite(step, time, id) &&
        isInBounds(counter, step) &&
        (!hasEntries(counter) || isOneEntry(changes, id, step.before, step.after)),
      tallyEntries: () =>
        hasEntries(counter) && (changes.length === 2 || planted.withoutRule === "an undo is in one place"),
      tallyVisitors: () => step !== undefined && addsOneHash(step, id),
    };
    const isAllowed = isAllowedOf[`${collection}` as keyof typeof isAllowedOf]?.() ?? false;
    if (!isAllowed) throw new Refused(Code.PERMISSION_DENIED, after.path);
  }
}

/** Adds one hash to the bucket that it begins with, or changes nothing. */
function addsOneHash({ before, after }: Step, bucket: string): boolean {
  const [known, hashes] = [before.visitors ?? [], after.visitors];
  if (!Array.isArray(known) || !Array.isArray(hashes) || Object.keys(after).length !== 1) return false;
  const added: unknown = hashes.at(-1);
  if (isEqual(hashes, known)) return true;
  return isAppended(hashes, known) && typeof added === "string" && added.startsWith(bucket) && /^..?$/.test(bucket);
}

function hasEntries(counter: string): boolean {
  return countsOncePerUser(counter) || isBounded(counter);
}

/** A bounded group of the default policy. */
export function isBounded(counter: string): boolean {
  return counter.startsWith("tickets:");
}

/** A shard of stock never falls below zero. */
function isInBounds(counter: string, { after }: Step): boolean {
  return !isBounded(counter) || Number(after.count) >= 0 || planted.withoutRule === "a shard of stock has units";
}

/** The groups that count once per user by the default policy. */
export function countsOncePerUser(counter: string): boolean {
  return /^(likes|votes):/.test(counter);
}

const SHARD_FIELDS = ["shard", "count", "writes", "at", "marks"];
const SLOT = /^[0-4]$/;

/**
 * An increment appends exactly one nonce to exactly one slot, and sets its time to the request time. It may remove other slots that
 * are older than `MARK_LIFETIME`.
 */
function isOneWrite({ before, after }: Step, time: Micros, id: string): boolean {
  if (Object.keys(after).some((field) => !SHARD_FIELDS.includes(field))) return false;
  if (after.shard !== id || !Number.isFinite(after.count) || microsOf(after.at) !== time) return false;
  if (after.writes !== Number(before.writes ?? 0) + 1) return false;
  const [old, slots] = [mapOf(before.marks), mapOf(after.marks)];
  const changed = changedIn(old, slots);
  const removed = changed.filter((name) => !(name in slots));
  const [name, ...others] = changed.filter((name) => name in slots);
  if (name === undefined || others.length > 0 || !isMap(slots[name])) return false;
  const isExpired = (name: string) =>
    time - microsOf(mapOf(old[name]).at) > MARK_LIFETIME || planted.withoutRule === "a slot is old";
  if (!removed.every(isExpired)) return false;
  if (!Object.keys(slots).every((slot) => SLOT.test(slot))) return false;
  const isOwnTime = [EARLY_MARK_MILLIS, -LATE_MARK_MILLIS].some(
    (millis) => name === `${Math.floor((time / 1_000 + millis) / MARK_SLOT_MILLIS) % MARK_SLOTS}`,
  );
  return isMarked(old[name], slots[name], time, isOwnTime ? MAX_SLOT_NONCES : MAX_LATE_NONCES);
}

/** An increment creates one entry, of its shard and amount. An undo deletes one, of its shard and the opposite amount. */
function isOneEntry(changes: readonly Change[], shard: string, before: Fields, after: Fields): boolean {
  const [entry, ...others] = changes.filter(({ after }) => after.path.includes("/tallyEntries/"));
  const [old, created] = [entry?.before.fields, entry?.after.fields];
  if (others.length > 0 || !old === !created) return false;
  const { once, shard: named, by } = (created ?? old) as Fields;
  if (created && !entry?.after.path.endsWith(`/tallyEntries/${once}`)) return false;
  const isUndoneInShard0 = !created && named === DIRECT && shard === "0";
  return (
    (named === shard || isUndoneInShard0) && after.count === Number(before.count ?? 0) + (created ? 1 : -1) * Number(by)
  );
}
