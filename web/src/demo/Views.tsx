/** The number of times the page was opened: one increment each. */
import { counter, incrementCounter } from "firestore-tally";
import { useEffect, useMemo } from "preact/hooks";
import { useTotal } from "../counter/counterHooks.ts";
import type { Connection } from "../firebase/connection.ts";
import { trackWrite } from "../firebase/pendingWrites.ts";
import { formatTotal } from "../page/format.ts";

let isCounted = false;

export function Views({ connection, visible }: { connection: Connection; visible: boolean }) {
  const views = useMemo(() => counter(connection.db, "views:page"), [connection]);
  const { value } = useTotal(views, visible);
  useEffect(() => {
    if (isCounted) return;
    isCounted = true;
    trackWrite(() => incrementCounter(views)).catch(() => {});
  }, [views]);
  return (
    <div>
      <p>
        <b id="views" data-total={value?.total}>
          {value ? formatTotal(value.total) : "–"}
        </b>{" "}
        {value?.total === 1 ? "view" : "views"} of this page
      </p>
      <p class="fine">One increment each time it is opened.</p>
    </div>
  );
}
