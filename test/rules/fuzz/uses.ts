/** Uses of a rate limit with what they pay for, and ways to cheat. */
import type { Value, Write } from "../rest.ts";
import { TIMES } from "./corruptions.ts";
import { LIMIT, slotsOf } from "./oracle.ts";
import { integer, textOf, UIDS } from "./values.ts";
import { type BatchContext, choose, incrementWrite, setField, text } from "./writes.ts";

const DAY = 86_400_000;
const fromNow = (millis: number): Value => ({ timestampValue: new Date(Date.now() + millis).toISOString() });

/** A use of a slot of a user's limit document, for a document. */
function limitWrite(context: BatchContext, user: string, slot: number | string, document: string): Write {
  return {
    path: `${context.limit}/${user}`,
    set: {
      slot: typeof slot === "string" ? { doubleValue: Number(slot) } : integer(slot),
      for: { referenceValue: `${context.documents}/${document}` },
      expireAt: fromNow(3 * DAY),
    },
    mask: ["slot", "for", "expireAt"],
    transforms: [{ fieldPath: `slots.\`${slot}\``, setToServerValue: "REQUEST_TIME" }],
  };
}

/** A use of the slot that has rested longest, for a document. */
export function limitFor(context: BatchContext, user: string, document: string): Write {
  return limitWrite(context, user, oldestSlot(context, user), document);
}

function noteWrite(path: string, pick: number): Write {
  return { path, set: { text: text(`note ${pick}`) } };
}

/** A note with a use of the slot that has rested longest. */
export function paidNote(context: BatchContext, user: string, pick: number): Write[] {
  const path = choose(context.notes, pick);
  return [limitFor(context, user, path), noteWrite(path, pick)];
}

export function paidClap(context: BatchContext, user: string): Write[] {
  const clap = incrementWrite(context, context.limited, "0");
  return [limitFor(context, user, clap.path), clap];
}

function oldestSlot({ world, limit }: BatchContext, user: string): number {
  const slots = slotsOf(world[`${limit}/${user}`]);
  const lastUse = (slot: number) => Date.parse(String(slots[slot]?.timestampValue ?? "2000-01-01"));
  return Array.from({ length: LIMIT.burst }, (_, slot) => slot).sort((a, b) => lastUse(a) - lastUse(b))[0] ?? 0;
}

/** Commits that must be refused, or that pay for nothing. */
export function cheat(context: BatchContext, user: string, pick: number): Write[] {
  const { world, limit, notes, limited } = context;
  const [first = "", second = ""] = pick % 2 ? notes : notes.toReversed();
  const slot = oldestSlot(context, user);
  const paid = limitWrite(context, user, slot, first);
  const note = noteWrite(first, pick);
  const slotField = `slots.\`${slot}\``;
  const lastPaid = textOf({ stringValue: world[`${limit}/${user}`]?.for?.referenceValue })?.replace(
    /^.*\/documents\//,
    "",
  );
  const ways: (() => Write[])[] = [
    () => [noteWrite(notes.includes(lastPaid ?? "") ? (lastPaid as string) : first, pick)],
    () => [incrementWrite(context, limited, "0")],
    () => [paid, noteWrite(second, pick)],
    () => [paid, note, noteWrite(second, pick)],
    () => [paid, note, incrementWrite(context, limited, "0")],
    () => [paid, note, limitWrite(context, user, (slot + 1) % LIMIT.burst, second), noteWrite(second, pick)],
    () => [limitWrite(context, choose(UIDS, pick), slot, first), note],
    () => [limitWrite(context, user, (slot + 1) % LIMIT.burst, first), note],
    () => [limitWrite(context, user, choose([LIMIT.burst, -1, -2], pick), first), note],
    () => [limitWrite(context, user, choose(["0.5", "1.5", "0.25"], pick), first), note],
    () => [paid],
    () => [limitWrite(context, choose(UIDS, pick), slot, first)],
    () => [limitWrite(context, user, choose([99, 100], pick), first)],
    () => [{ path: `${limit}/${user}`, delete: true }],
    () => [{ ...paid, mask: [...(paid.mask ?? []), `slots.\`${1 - slot}\``] }, note],
    () => [
      {
        ...paid,
        transforms: [...(paid.transforms ?? []), { fieldPath: "slots.`7`", setToServerValue: "REQUEST_TIME" }],
      },
    ],
    () => [setField({ ...paid, transforms: [] }, slotField, choose(TIMES, pick))],
    () => [setField({ ...paid, transforms: [] }, slotField, choose(TIMES, pick)), note],
    () => [setField(paid, "for", text(first))],
    () => [setField(paid, "expireAt", fromNow(choose([-DAY, 0, DAY - 60_000], pick)))],
    () => [setField(paid, "more", integer(pick))],
    () => [paid, { path: first, delete: true }],
  ];
  return choose(ways, pick >> 2)();
}
