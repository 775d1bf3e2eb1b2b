/** Takes from stock, and ways to take what one must not. */
import type { Value, Write } from "../rest.ts";
import { AMOUNTS } from "./corruptions.ts";
import { integer, numberOf, textOf, UIDS } from "./values.ts";
import { type BatchContext, choose, entry, incrementWrite } from "./writes.ts";

export function take(context: BatchContext, once: string, shard: string, by: Value): Write[] {
  return [entry(context.stock, once, shard, by), incrementWrite(context, context.stock, shard, by)];
}

export function giveBack(context: BatchContext, once: string, shard: string): Write[] {
  const path = `${context.stock}/tallyEntries/${once}`;
  const { by, shard: taken } = context.world[path] ?? {};
  const units = integer(-(numberOf(by) ?? -1));
  return [{ path, delete: true }, incrementWrite(context, context.stock, textOf(taken) ?? shard, units)];
}

export function takeWrongly(context: BatchContext, once: string, shard: string, pick: number): Write[] {
  const { stock } = context;
  const other = choose(UIDS, pick);
  const ways: (() => Write[])[] = [
    () => take(context, once, shard, integer(-11 - (pick % 30))),
    () => take(context, once, shard, choose(AMOUNTS, pick)),
    () => [entry(stock, once, shard, { doubleValue: -1 }), incrementWrite(context, stock, shard, integer(-1))],
    () => take(context, once, "0", integer(-4 - (pick % 7))),
    () => take(context, other, shard, integer(-1)),
    () => [incrementWrite(context, stock, shard, choose([integer(1), integer(-1)], pick))],
    () => [entry(stock, once, shard, integer(-1))],
    () => [entry(stock, once, shard, integer(-1)), incrementWrite(context, stock, shard, integer(-2))],
    () => [entry(stock, once, "0", integer(-1)), incrementWrite(context, stock, "1", integer(-1))],
    () => giveBack(context, other, shard),
    () => [{ path: `${stock}/tallyEntries/${once}`, delete: true }],
    () => [{ path: `${stock}/tallyEntries/${once}`, delete: true }, incrementWrite(context, stock, shard, integer(10))],
  ];
  return choose(ways, pick >> 3)();
}
