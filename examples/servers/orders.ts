/** An HTTP handler that counts each order once, and answers in time. */
import { type CounterError, counter, incrementCounter } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** A client that gets no answer, or a 503, sends the same order again. */
export async function handleOrder(request: Request, timeout = 5_000): Promise<Response> {
  const { id, product, quantity } = (await request.json()) as { id: string; product: string; quantity: number };
  try {
    const sales = counter(db, `sales:${product}`);
    const signal = AbortSignal.timeout(timeout);
    await incrementCounter(sales, quantity, { once: id, signal });
    return new Response(null, { status: 204 });
  } catch (error) {
    if ((error as CounterError).code !== "counter/unknown-outcome") throw error;
    return new Response("no answer from the database", { status: 503, headers: { "Retry-After": "10" } });
  }
}
