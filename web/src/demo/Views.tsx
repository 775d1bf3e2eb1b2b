/** The number of times the page was opened, one increment each, and how many different users have opened it. */
import { counter, countVisitor, incrementCounter } from "firestore-tally";
import { useEffect, useMemo } from "preact/hooks";
import { useTotal } from "../counter/counterHooks.ts";
import type { Connection } from "../firebase/connection.ts";
import { trackWrite } from "../firebase/pendingWrites.ts";
import { loadAuthSession } from "../firebase/visitor.ts";
import { formatTotal } from "../page/format.ts";

let isCounted = false;

export function Views({ connection, visible }: { connection: Connection; visible: boolean }) {
  const views = useMemo(() => counter(connection.db, "views:page"), [connection]);
  const value = useTotal(views, visible).value;
  useEffect(() => {
    if (isCounted) return;
    isCounted = true;
    const count = () => {
      trackWrite(() => incrementCounter(views)).catch(() => {});
      // Not in the same commit, since the view does not wait for Auth.
      loadAuthSession(connection)
        .then((session) => session.ensureUser())
        .then((uid) => trackWrite(() => countVisitor(views, uid)))
        .catch(() => {});
    };
    // Chrome may prerender a page that no user opens.
    const isShown = !("prerendering" in document && document.prerendering);
    if (isShown) count();
    else document.addEventListener("prerenderingchange", count, { once: true });
  }, [connection, views]);
  return (
    <div>
      <p>
        <b id="views" data-total={value?.total}>
          {value ? formatTotal(value.total) : "–"}
        </b>{" "}
        {value?.total === 1 ? "view" : "views"} of this page by{" "}
        <b id="visitors" data-total={value?.uniques}>
          {value ? formatTotal(value.uniques) : "–"}
        </b>{" "}
        {value?.uniques === 1 ? "visitor" : "visitors"}
      </p>
      <p class="fine">One increment each time it is opened. A visitor is one anonymous account, counted once.</p>
    </div>
  );
}
