/** A component that shows whether an increment with `once` counts. The server renders it, too. */
import { type CounterRef, incrementCounter, undoIncrement } from "firestore-tally";
import { useIncremented } from "firestore-tally/react";
import { createElement as h, type ReactElement, useState } from "react";

export interface LikedProps {
  readonly of: CounterRef;
  readonly by: string | undefined;
}

export function Liked({ of, by }: LikedProps): ReactElement {
  const [error, setError] = useState<Error & { code?: string }>();
  const incremented = useIncremented(of, by, { onError: setError });
  return h(
    "p",
    null,
    by && h("button", { type: "button", id: "like", onClick: () => incrementCounter(of, 1, { once: by }) }, "like"),
    by && h("button", { type: "button", id: "unlike", onClick: () => undoIncrement(of, by) }, "unlike"),
    h("output", { id: "liked" }, `${incremented}`),
    h("output", { id: "error" }, error?.code ?? ""),
  );
}
