/** A component that shows a counter. The server renders it, too. */
import type { CounterRef } from "firestore-tally";
import { useCounter } from "firestore-tally/react";
import { createElement as h, type ReactElement } from "react";

export interface CountedProps {
  readonly of: CounterRef;
  readonly initialTotal?: number | undefined;
  readonly onRender?: (total: number | undefined) => void;
}

export function Counted({ of, initialTotal, onRender }: CountedProps): ReactElement {
  const { total, pending, error, increment } = useCounter(of, initialTotal === undefined ? {} : { initialTotal });
  onRender?.(total);
  return h(
    "p",
    null,
    h("button", { type: "button", id: "increment", onClick: () => increment() }, "increment"),
    h("button", { type: "button", id: "increment-by-5", onClick: () => increment(5) }, "increment by 5"),
    h("output", { id: "total" }, total ?? "…"),
    h("output", { id: "pending" }, `${pending}`),
    h("output", { id: "error" }, (error as { code?: string } | undefined)?.code ?? ""),
  );
}
