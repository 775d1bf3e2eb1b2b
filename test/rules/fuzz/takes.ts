/** Takes from stock, and ways to take what one must not. */
import type { Value, Write } from "../rest.ts";
import { AMOUNTS } from "./corruptions.ts";
import { integer, KEYS, numberOf, textOf } from "./oracle.ts";
import { type BatchContext, choose, entry, incrementWrite } from "./writes.ts";

export function take(context: BatchContext, key: string, shard: string, by: Value): Write[] {
  return [entry(context.stock, key, shard, by), incrementWrite(context, context.stock, shard, by)];
}

export function giveBack(context: BatchContext, key: string, shard: string): Write[] {
  const path = `${context.stock}/tallyEntries/${key}`;
  const { by, shard: taken } = context.world[path] ?? {};
  const units = integer(-(numberOf(by) ?? -1));
  return [{ path, delete: true }, incrementWrite(context, context.stock, textOf(taken) ?? shard, units)];
}

export function takeWrongly(context: BatchContext, key: string, shard: string, pick: number): Write[] {
  const { stock } = context;
  const other = choose(KEYS, pick);
  const ways: (() => Write[])[] = [
    () => take(context, key, shard, integer(-11 - (pick % 30))),
    () => take(context, key, shard, choose(AMOUNTS, pick)),
    () => [entry(stock, key, shard, { doubleValue: -1 }), incrementWrite(context, stock, shard, integer(-1))],
    () => take(context, key, "0", integer(-4 - (pick % 7))),
    () => take(context, other, shard, integer(-1)),
    () => [incrementWrite(context, stock, shard, choose([integer(1), integer(-1)], pick))],
    () => [entry(stock, key, shard, integer(-1))],
    () => [entry(stock, key, shard, integer(-1)), incrementWrite(context, stock, shard, integer(-2))],
    () => [entry(stock, key, "0", integer(-1)), incrementWrite(context, stock, "1", integer(-1))],
    () => giveBack(context, other, shard),
    () => [{ path: `${stock}/tallyEntries/${key}`, delete: true }],
    () => [{ path: `${stock}/tallyEntries/${key}`, delete: true }, incrementWrite(context, stock, shard, integer(10))],
  ];
  return choose(ways, pick >> 3)();
}
