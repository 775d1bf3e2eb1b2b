/** Sends the traffic that a page asks for and one browser cannot send: see `HELP`. */
import { counter, incrementCounter, onCounter } from "firestore-tally";
import type { Client } from "../testkit/clients.ts";
import { HELP, TRAFFIC } from "../web/src/traffic/counters.ts";

const TICK_MS = 50;
/** What is asked for comes with the totals of a counter, every second or so. It is sent as evenly as that allows. */
const TICKS_TO_SEND = 40;
/** More than this many increments late they are not sent: the machine cannot do what was asked. */
const MOST_OWED = 1_000;
/** Increments each client has under way at a time. */
export const IN_FLIGHT = 10;

/**
 * Helps from now on; what was asked before is left undone.
 *
 * @param watcher  sees what is asked for
 * @param clients  send it, in turn
 * @returns a function that ends it
 */
export function helpOut(watcher: Client, clients: readonly Client[]): () => void {
  let seen: number | undefined;
  let owed = 0;
  let underWay = 0;
  let turn = 0;
  const stopWatch = onCounter(
    counter(watcher.db, HELP.counter),
    ({ total }) => {
      owed = Math.min(owed + (total - (seen ?? total)) * HELP.each, MOST_OWED);
      seen = total;
    },
    (error) => console.error(error),
  );
  const send = async ({ db }: Client) => {
    underWay++;
    await incrementCounter(counter(db, TRAFFIC)).catch((error) => console.error(error));
    underWay--;
  };
  const timer = setInterval(() => {
    const room = clients.length * IN_FLIGHT - underWay;
    const due = Math.min(Math.ceil(owed / TICKS_TO_SEND), room);
    owed -= due;
    for (let n = 0; n < due; n++) send(clients[turn++ % clients.length] as Client);
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    stopWatch();
  };
}
