/** A buyer: takes tickets, sees how many are left, and gives them back. */
import { counter, onCounter, takeFromCounter, undoIncrement } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

/** Returns how many tickets the user has. A second call takes no more. */
export async function buy(event: string, quantity: number): Promise<number | "sold out"> {
  const tickets = counter(db, `tickets:${event}`);
  const once = await userId();
  try {
    return await takeFromCounter(tickets, quantity, { once });
  } catch (error) {
    if ((error as { code?: string }).code === "counter/sold-out") return "sold out";
    throw error;
  }
}

export async function giveBack(event: string) {
  await undoIncrement(counter(db, `tickets:${event}`), await userId());
}

/** Shows how many are left. Returns a function that ends it. */
export function watchTickets(event: string, show: (left: number) => void) {
  return onCounter(counter(db, `tickets:${event}`), ({ total }) => show(total));
}
