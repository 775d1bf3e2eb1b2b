/** The last tickets, which every open page fights over. Each ticket is bought by a new anonymous account. */
import { counter } from "firestore-tally";
import { useMemo, useRef, useState } from "preact/hooks";
import { useTotal } from "../counter/counterHooks.ts";
import type { Connection } from "../firebase/connection.ts";
import { formatTotal } from "../page/format.ts";
import { TICKETS } from "../traffic/demoCounters.ts";
import type { Buyer } from "./buyers.ts";

/** Buyers of one click at most. */
const CROWD = 10;

export function Tickets({ connection, visible }: { connection: Connection; visible: boolean }) {
  const tickets = useMemo(() => counter(connection.db, TICKETS), [connection]);
  const { value } = useTotal(tickets, visible);
  const own = useRef<Buyer[]>([]).current;
  const [pending, setPending] = useState(0);
  const [outcome, setOutcome] = useState("");

  const run = async (
    calls: readonly (() => Promise<unknown>)[],
    describe: (outcomes: PromiseSettledResult<unknown>[]) => string,
  ) => {
    setPending(calls.length);
    setOutcome("");
    const outcomes = await Promise.allSettled(calls.map((call) => call()));
    setPending(0);
    setOutcome(describe(outcomes));
  };
  const buy = (count: number) => {
    const call = async () => {
      const { buyTicket } = await import("./buyers.ts");
      own.push(await buyTicket(connection.setup, TICKETS));
    };
    return run(
      Array.from({ length: count }, () => call),
      describePurchase,
    );
  };
  const giveBack = () => {
    const all = own.splice(0);
    const call = (buyer: Buyer) => async () => {
      await buyer.giveBack().catch((error) => {
        own.push(buyer);
        throw error;
      });
    };
    return run(all.map(call), (outcomes) => (outcomes.every(isDone) ? "Given back." : FAILED));
  };

  // Only `npm start` opens the sale.
  if (!value?.asOf) return null;
  return (
    <section aria-labelledby="tickets-title" class="tickets">
      <div class="caption">
        <h2 id="tickets-title">The last tickets</h2>
        <p>
          Stock that never oversells: open this page in several tabs, and let them fight. Each ticket goes to a new
          account; a sale that is sold out gets 100 more after a moment.
        </p>
      </div>
      <p>
        <b id="tickets" data-total={value.total}>
          {formatTotal(value.total)}
        </b>{" "}
        left, <b id="own-tickets">{own.length}</b> yours
      </p>
      <div class="controls">
        <button type="button" id="buy" class="primary" disabled={pending > 0} onClick={() => buy(1)}>
          Buy one
        </button>
        <button type="button" id="buy-many" disabled={pending > 0} onClick={() => buy(CROWD)}>
          {CROWD} buyers at once
        </button>
        <button type="button" id="give-back" disabled={pending > 0 || own.length === 0} onClick={giveBack}>
          Give back
        </button>
      </div>
      <p class="fine" role="status" id="ticket-state">
        {pending > 0 ? "Waiting for the server…" : outcome || "No shard of the counter falls below zero, by the rules."}
      </p>
    </section>
  );
}

const FAILED = "That failed. Check your connection, then try again.";

function describePurchase(outcomes: readonly PromiseSettledResult<unknown>[]): string {
  const bought = outcomes.filter(isDone).length;
  const refused = outcomes.filter((one) => one.status === "rejected").map(({ reason }) => reason?.code);
  if (refused.some((code) => code !== "counter/sold-out")) return FAILED;
  const late = refused.length > 0 ? `; ${refused.length} came too late: sold out` : "";
  return `${bought} bought${late}.`;
}

function isDone({ status }: PromiseSettledResult<unknown>): boolean {
  return status === "fulfilled";
}
