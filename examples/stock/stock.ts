/** The shop's server: opens a sale, sells by order, and changes what is left meanwhile. */
import { counter, ensureCounter, incrementCounter, takeFromCounter, undoIncrement } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

const tickets = (event: string) => counter(db, `tickets:${event}`);

/** A crowd waits: 20 shards take some 20 sales a second. */
export async function openSale(event: string, units: number) {
  const stock = { initial: units, bounded: true, shards: 20 };
  await ensureCounter(tickets(event), stock);
}

/** Sells to an order, once however often it is called. Rejects with `counter/sold-out` if too few are left. */
export async function sell(event: string, quantity: number, orderId: string) {
  await takeFromCounter(tickets(event), quantity, { once: orderId });
}

export async function cancelOrder(event: string, orderId: string) {
  await undoIncrement(tickets(event), orderId);
}

export async function restock(event: string, units: number) {
  await incrementCounter(tickets(event), units);
}

export async function recall(event: string, units: number) {
  await takeFromCounter(tickets(event), units);
}
