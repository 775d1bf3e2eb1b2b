/** Stock: a counter that starts at a number and goes down. */
import {
  counter,
  ensureCounter,
  getExactCounter,
  hasIncremented,
  incrementCounter,
  resetCounter,
} from "firestore-tally/admin";
import { db } from "../setup/server.ts";

const stock = (item: string) => counter(db, `stock:${item}`);

export async function open(item: string, initial: number) {
  await ensureCounter(stock(item), { initial });
}

/** Counts once per order. Returns `false`, and counts nothing, if too few are left. */
export async function sell(item: string, quantity: number, orderId: string): Promise<boolean> {
  if (await hasIncremented(stock(item), orderId)) return true;
  const left = await getExactCounter(stock(item));
  if (left < quantity) return false;
  await incrementCounter(stock(item), -quantity, { key: orderId });
  return true;
}

export async function recount(item: string, counted: number) {
  await resetCounter(stock(item), counted);
}
