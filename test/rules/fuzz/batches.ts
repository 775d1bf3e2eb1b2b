/**
 * Random batches: the actions of honest and hostile clients, some with corruptions. A batch is made from the documents at its
 * turn, so that likes, undos and replays match them.
 */
import fc from "fast-check";
import type { User, Value, Write } from "../rest.ts";
import { AMOUNTS, CORRUPTIONS, type Corrupt, type Corruption, TIMES } from "./corruptions.ts";
import { BUCKETS, FOREIGN_SHARD_IDS, hashOf, SHARD_IDS, visitorsOf } from "./oracle.ts";
import { integer, marksOf, textOf, UIDS } from "./values.ts";
import {
  type BatchContext,
  choose,
  entry,
  incrementWrite,
  like,
  list,
  maskOf,
  newNonce,
  setField,
  text,
  unlike,
  visitWrite,
} from "./writes.ts";

const KINDS = [
  "increment",
  "toggle",
  "like",
  "unlike",
  "likeBy",
  "likeAs",
  "likeForTwo",
  "unlikeAs",
  "unlikeForTwo",
  "unlikeElsewhere",
  "enter",
  "enterOpen",
  "leave",
  "incrementPerUser",
  "decrementPerUser",
  "incrementClosed",
  "removeMarks",
  "removeMarksAnd",
  "visit",
  "visitAs",
  "visitAndIncrement",
  "visitWith",
  "overwrite",
] as const;

type Kind = (typeof KINDS)[number];

/** What a client does. `pick` makes all remaining choices. */
interface Action {
  readonly do: Kind;
  readonly shard: string;
  readonly pick: number;
}

export interface Step {
  readonly user: User;
  readonly actions: readonly Action[];
  readonly corruptions: readonly Corruption[];
}

const MAX_WRITES = 4;

/** @returns the writes of a step: one to four, or none if its corruptions have dropped all */
export function createBatch({ user, actions, corruptions }: Step, context: BatchContext): Write[] {
  const writes = actions.flatMap((action) => perform(action, user, context));
  for (const { how, at, pick } of corruptions) {
    // The first write from this index that the corruption changes.
    for (let n = 0; n < writes.length; n++) {
      const index = (at + n) % writes.length;
      const write = writes[index] as Write;
      const corrupted = (CORRUPTIONS[how] as Corrupt)(write, pick, context, user);
      if (JSON.stringify(corrupted) === JSON.stringify([write])) continue;
      writes.splice(index, 1, ...corrupted);
      break;
    }
  }
  return writes.slice(0, MAX_WRITES);
}

function perform({ do: kind, shard, pick }: Action, user: User, context: BatchContext): Write[] {
  const { open, closed, perUser, world } = context;
  const once = user ?? "alice";
  const other = choose(UIDS, pick);
  const own = textOf(world[`${perUser}/tallyEntries/${once}`]?.shard);
  switch (kind) {
    case "increment":
      return [incrementWrite(context, open, shard)];
    case "toggle":
      return own ? unlike(context, once, shard) : like(context, once, shard);
    case "like":
      return like(context, once, shard);
    case "unlike":
      return unlike(context, once, shard);
    case "likeBy":
      return like(context, once, shard, choose(AMOUNTS, pick));
    case "likeAs":
      return like(context, other, shard);
    case "likeForTwo":
      return [entry(perUser, other, shard), ...like(context, once, shard)];
    case "unlikeAs":
      return unlike(context, other, shard);
    case "unlikeForTwo":
      return [{ path: `${perUser}/tallyEntries/${other}`, delete: true }, ...unlike(context, once, shard)];
    case "unlikeElsewhere":
      return [
        { path: `${perUser}/tallyEntries/${once}`, delete: true },
        incrementWrite(
          context,
          perUser,
          choose(
            SHARD_IDS.filter((it) => it !== own),
            pick,
          ),
          integer(-1),
        ),
      ];
    case "enter":
      return [entry(perUser, once, shard)];
    case "enterOpen":
      return [entry(open, once, shard), incrementWrite(context, open, shard)];
    case "leave":
      return [{ path: `${perUser}/tallyEntries/${once}`, delete: true }];
    case "incrementPerUser":
      return [incrementWrite(context, perUser, shard)];
    case "decrementPerUser":
      return [incrementWrite(context, perUser, own ?? shard, integer(-1))];
    case "incrementClosed":
      return [incrementWrite(context, closed, shard)];
    case "removeMarks": {
      const write = pick % 2 ? incrementWrite(context, open, shard) : undefined;
      const [entry, counted] = write ? [] : own ? unlike(context, once, shard) : like(context, once, shard);
      const increment = write ?? counted;
      if (!increment) return [];
      const slots = Object.keys(marksOf(world[increment.path]));
      const some = slots.filter((_, n) => pick & (2 << n));
      const mask = [...(increment.mask ?? []), ...(some.length > 0 ? some : slots).map(maskOf)];
      return [...(entry ? [entry] : []), { ...increment, mask }];
    }
    case "removeMarksAnd": {
      // Removes every old slot but one, and makes another change that must be refused.
      const increment = incrementWrite(context, open, "0");
      const marks = Object.entries(marksOf(world[increment.path]));
      const old = marks.filter(([, slot]) => JSON.stringify(slot).includes("2020-")).map(([name]) => name);
      const mask = [...(increment.mask ?? []), ...old.slice(1).map(maskOf)];
      const slot = { mapValue: { fields: { at: TIMES[0] as Value, nonces: list(newNonce(context)) } } };
      const removing = { ...increment, mask };
      const bare = { path: increment.path, set: {}, mask: old.slice(1).map(maskOf) };
      return [choose([setField(removing, maskOf("0"), slot), setField(removing, maskOf("3"), slot), bare], pick)];
    }
    case "visit":
      return [visitWrite(open, hashOf(once), pick)];
    case "visitAs":
      return [visitWrite(pick % 3 ? open : perUser, hashOf(other), pick)];
    case "visitAndIncrement":
      return [visitWrite(open, hashOf(once), pick), incrementWrite(context, open, shard)];
    case "visitWith": {
      // Another list instead of one hash more, mostly in the own bucket.
      const own = hashOf(once);
      const bucket = `${open}/tallyVisitors/${choose([own.slice(0, 1), own.slice(0, 2), choose(BUCKETS, pick)], pick)}`;
      const more = [...visitorsOf(world[bucket]), own].map(String);
      const lists = [more, more, [own, hashOf(other)], [hashOf(other), own], [own.slice(1)], [own, ""], []];
      return [{ path: bucket, set: { visitors: list(...choose(lists, pick).map(text)) } }];
    }
    case "overwrite": {
      const path = choose(context.paths, pick);
      return pick % 3 === 0 ? [{ path, delete: true }] : [{ path, set: { count: integer(100), total: integer(100) } }];
    }
  }
}

const pick = fc.nat(9_999);
const shard = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...SHARD_IDS) },
  { weight: 1, arbitrary: fc.constantFrom(...FOREIGN_SHARD_IDS) },
);

/** Seldom possible, so more often tried: "unlikeElsewhere" needs an entry on another shard, "visitWith" a bucket with the own hash. */
const SELDOM: readonly Kind[] = ["unlikeElsewhere", "visitWith", "visitWith"];
const action: fc.Arbitrary<Action> = fc.record({
  do: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Kind>("increment", "toggle", "toggle", "visit") },
    { weight: 2, arbitrary: fc.constantFrom<Kind>(...KINDS, ...SELDOM) },
  ),
  shard,
  pick,
});

const corruption: fc.Arbitrary<Corruption> = fc.record({
  how: fc.constantFrom(...Object.keys(CORRUPTIONS)),
  at: fc.nat(3),
  pick,
});

const user = fc.constantFrom<User>("alice", "alice", "alice", "bob", "bob", "bob", null);

/** Some batches are valid. Most others have one or two corruptions. */
export const STEP: fc.Arbitrary<Step> = fc.record({
  user,
  actions: fc.oneof(
    { weight: 3, arbitrary: fc.array(action, { minLength: 1, maxLength: 1 }) },
    { weight: 2, arbitrary: fc.array(action, { minLength: 2, maxLength: 3 }) },
  ),
  corruptions: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(corruption, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(corruption, { minLength: 2, maxLength: 2 }) },
  ),
});
