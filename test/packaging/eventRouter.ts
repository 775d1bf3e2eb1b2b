/**
 * Takes the events of the Firestore emulator and delivers each to the functions it is for, by their names. Events for functions that
 * are removed are dropped, as when Firestore's triggers are deleted.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { slowness } from "../../testkit/slowness.ts";
import { type Delivery, deliverEvents } from "../faults/delivery.ts";

export interface EventRouter {
  /** `host:port` to send events to. */
  readonly address: string;
  /** How many events were taken so far. Those for removed functions do not count. */
  taken(): number;
  /** How many of them are not handled yet. */
  pending(): number;
  /** Drops what is for these functions: events that are under way, too. */
  remove(prefix: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param functions  where they take events, `host:port`, by the beginning of their names */
export async function startEventRouter(functions: Readonly<Record<string, string>>): Promise<EventRouter> {
  const deliveries = new Map<string, Delivery>();
  const slow = await slowness();
  for (const [prefix, address] of Object.entries(functions)) deliveries.set(prefix, await deliverEvents(address, slow));
  let taken = 0;
  const server = createServer(async (request, response) => {
    const { url = "/", headers } = request;
    const body = await buffer(request);
    const [, delivery] = [...deliveries].find(([prefix]) => url.includes(`-${prefix}`)) ?? [];
    if (delivery) {
      taken++;
      await fetch(`http://${delivery.address}${url}`, { method: "POST", headers: eventHeaders(headers), body });
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: () => taken,
    pending: () => [...deliveries.values()].reduce((sum, delivery) => sum + delivery.pending(), 0),
    async remove(prefix) {
      await deliveries.get(prefix)?.stop();
      deliveries.delete(prefix);
    },
    async stop() {
      for (const delivery of deliveries.values()) await delivery.stop();
      deliveries.clear();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Those that are about the event: `fetch` makes the others itself. */
function eventHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((one): one is [string, string] => /^(content-type|ce-.*)$/.test(one[0])),
  );
}
