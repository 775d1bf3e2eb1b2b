/** Valid writes over REST: increments of shards, and batches that like and unlike. */
import { integer, nonceOf } from "./fuzz/oracle.ts";
import type { Value, Write } from "./rest.ts";

let nextNonce = 0;
export const WINDOW = "7";
/** A valid increment of a shard, with some parts replaced. */
export function increment(shard: string, by: Value = integer(1), changes: Partial<Write> = {}): Write {
  return {
    path: shard,
    set: { shard: { stringValue: shard.slice(shard.lastIndexOf("/") + 1) } },
    mask: ["shard"],
    transforms: [
      { fieldPath: "count", increment: by },
      { fieldPath: "writes", increment: integer(1) },
      { fieldPath: "at", setToServerValue: "REQUEST_TIME" },
      { fieldPath: `marks.\`${WINDOW}\`.at`, setToServerValue: "REQUEST_TIME" },
      { fieldPath: `marks.\`${WINDOW}\`.nonces`, appendMissingElements: { values: [nonceOf(nextNonce++)] } },
    ],
    ...changes,
  };
}

/** The same with absolute values instead of transforms. */
export function absolute(shard: string, count: Value, writes: Value): Write {
  const write = increment(shard);
  return {
    ...write,
    set: { ...write.set, count, writes },
    mask: [...(write.mask ?? []), "count", "writes"],
    transforms: write.transforms?.slice(2) ?? [],
  };
}

export function like(counter: string, user: string, shard = "0"): Write[] {
  return [
    {
      path: `${counter}/entries/${user}`,
      set: { by: integer(1), shard: { stringValue: shard } },
      transforms: [{ fieldPath: "at", setToServerValue: "REQUEST_TIME" }],
    },
    increment(`${counter}/shards/${shard}`),
  ];
}

export function unlike(counter: string, user: string, shard = "0", by = -1): Write[] {
  return [{ path: `${counter}/entries/${user}`, delete: true }, increment(`${counter}/shards/${shard}`, integer(by))];
}

/** The nonce of the last increment. */
export function lastNonce(): Value {
  return nonceOf(nextNonce - 1);
}

export const double = (doubleValue: number | string): Value => ({ doubleValue });
