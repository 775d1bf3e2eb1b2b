/** Sends the increments that a page requests because one browser cannot send them: see `HELP_REQUESTS`. */
import { counter, incrementCounter, onCounter } from "firestore-tally";
import type { Client } from "../testkit/clients.ts";
import { HELP_REQUESTS, TRAFFIC } from "../web/src/traffic/demoCounters.ts";

const TICK_MS = 50;
/** Requests arrive with the published totals, about once a second. Their increments are spread over this many ticks. */
const TICKS_TO_SEND = 40;
/** Increments beyond this backlog are dropped: the machine is too slow for the requested rate. */
const MAX_BACKLOG = 1_000;
/** Unacknowledged increments per client. */
export const IN_FLIGHT_PER_CLIENT = 10;

/**
 * Serves the requests made from now on.
 *
 * @param watcher  receives the requests
 * @param clients  send the increments, in turn
 * @returns a function that ends it
 */
export function serveHelpRequests(watcher: Client, clients: readonly Client[]): () => void {
  let requests: number | undefined;
  let backlog = 0;
  let inFlight = 0;
  let turn = 0;
  const stopWatch = onCounter(counter(watcher.db, HELP_REQUESTS.counter), ({ total }) => {
    backlog = Math.min(backlog + (total - (requests ?? total)) * HELP_REQUESTS.incrementsPerRequest, MAX_BACKLOG);
    requests = total;
  });
  const send = async ({ db }: Client) => {
    inFlight++;
    await incrementCounter(counter(db, TRAFFIC)).catch((error) => console.error(error));
    inFlight--;
  };
  const timer = setInterval(() => {
    const room = clients.length * IN_FLIGHT_PER_CLIENT - inFlight;
    const due = Math.min(Math.ceil(backlog / TICKS_TO_SEND), room);
    backlog -= due;
    for (let n = 0; n < due; n++) send(clients[turn++ % clients.length] as Client);
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    stopWatch();
  };
}
