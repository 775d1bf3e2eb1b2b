/** Shown if a view could not be loaded or drawn. It offers a reload only when no increment would be lost with the page. */
import { useRef } from "preact/hooks";
import { usePendingWrites } from "../firebase/pendingWrites.ts";
import { pluralize } from "./format.ts";
import { useFocusOnMain } from "./useFocusOnMain.ts";

export interface FailureProps {
  readonly error: Error;
  readonly online: boolean;
  /** Loads the view again. */
  readonly retry: () => void;
}

export function Failure({ error, online, retry }: FailureProps) {
  const pending = usePendingWrites();
  const section = useRef<HTMLElement>(null);
  useFocusOnMain(section);
  return (
    <section class="state" ref={section}>
      <h1>This view failed</h1>
      <p>{online ? error.message : "You are offline. It is loaded when you are online again."}</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
      {online && (
        <>
          <button type="button" aria-disabled={pending > 0} onClick={() => pending === 0 && location.reload()}>
            Reload the page
          </button>
          <p class="fine" role="status">
            {pending > 0 &&
              `A reload would lose ${pluralize(pending, "increment")} that the server has not acknowledged yet.`}
          </p>
        </>
      )}
    </section>
  );
}
