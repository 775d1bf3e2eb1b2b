/** How often the page was opened: one increment each time. */
import { counter, incrementCounter } from "firestore-tally";
import { useEffect, useMemo } from "preact/hooks";
import { useTotal } from "../counter/watching.ts";
import type { Backend } from "../firebase/backend.ts";
import { write } from "../firebase/switching.ts";
import { formatTotal } from "../page/format.ts";

let isCounted = false;

export function Views({ backend, visible }: { backend: Backend; visible: boolean }) {
  const views = useMemo(() => counter(backend.db, "views:page"), [backend]);
  const { value } = useTotal(views, visible);
  useEffect(() => {
    if (isCounted) return;
    isCounted = true;
    write(() => incrementCounter(views)).catch(() => {});
  }, [views]);
  return (
    <div class="views">
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
