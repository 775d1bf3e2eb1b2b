/** The last tickets, which every open page fights over. Each ticket is bought by a new anonymous account. */
import { counter } from "firestore-tally";
import { useMemo, useState } from "preact/hooks";
import { useTotal } from "../counter/counterHooks.ts";
import type { Connection } from "../firebase/connection.ts";
import { formatTotal } from "../page/format.ts";
import { TICKETS } from "../traffic/demoCounters.ts";
import type { Outcomes, Purchase } from "./buyers.ts";

/** Buyers of one click at most. */
const CROWD = 10;

export function Tickets({ connection, visible }: { connection: Connection; visible: boolean }) {
  const tickets = useMemo(() => counter(connection.db, TICKETS), [connection]);
  const { value } = useTotal(tickets, visible);
  const [own, setOwn] = useState(0);
  const [pending, setPending] = useState(false);
  const [outcome, setOutcome] = useState("");

  const buy = async (buyers: number) => {
    if (pending) return;
    setPending(true);
    setOutcome("");
    const outcomes = await purchase({ setup: connection.setup, counter: TICKETS, buyers });
    setPending(false);
    setOwn((before) => before + outcomes.filter((code) => code === null).length);
    setOutcome(describePurchase(outcomes));
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
        left, <b id="own-tickets">{own}</b> yours
      </p>
      <div class="controls">
        {/* Not `disabled`, which takes the focus of keyboard users away. */}
        <button type="button" id="buy" class="primary" aria-disabled={pending} onClick={() => buy(1)}>
          Buy one
        </button>
        <button type="button" id="buy-many" aria-disabled={pending} onClick={() => buy(CROWD)}>
          {CROWD} buyers
        </button>
      </div>
      <p class="fine" role="status" id="ticket-state">
        {pending ? "Waiting for the server…" : outcome || "No shard of the counter falls below zero, by the rules."}
      </p>
    </section>
  );
}

function purchase(wanted: Purchase): Promise<Outcomes> {
  const worker = new Worker(new URL("./buyers.ts", import.meta.url), { type: "module" });
  return new Promise<Outcomes>((resolve) => {
    worker.onmessage = ({ data }: MessageEvent<Outcomes>) => resolve(data);
    // Its code could not be loaded.
    worker.onerror = () => resolve(Array.from({ length: wanted.buyers }, () => "unavailable"));
    worker.postMessage(wanted);
  }).finally(() => worker.terminate());
}

function describePurchase(outcomes: Outcomes): string {
  const bought = outcomes.filter((code) => code === null).length;
  const late = outcomes.filter((code) => code === "counter/sold-out").length;
  const failed = outcomes.length - bought - late;
  return [
    `${bought} bought`,
    late > 0 && `${late} came too late: sold out`,
    failed > 0 && `${failed} failed; check your connection`,
  ]
    .filter(Boolean)
    .join("; ");
}
