/** Listeners that begin again after a failure. */
import type { Firestore, FirestoreError } from "firebase/firestore";
import { hasCode } from "./counter.ts";

/** Lets the failed listeners of a database try again. With the first failure, recovery.ts is loaded, which has them. */
let wake: (firestore: Firestore) => void = () => {};

/**
 * Keeps a listener, which the SDK ends when the rules refuse it.
 *
 * @param listen - begins it, and returns what ends it, which is called after a failure, too. It calls `works` with each snapshot
 * @param tell - called with an error once, until the listener has worked again
 * @returns a function that ends it
 */
export function keepListening(
  firestore: Firestore,
  listen: (works: () => void, failed: (error: FirestoreError) => void) => () => void,
  tell: (error: FirestoreError) => void,
): () => void {
  let failedAt = 0;
  let hasEnded = false;
  let end = () => {};
  const begin = () => {
    end = listen(
      () => {
        failedAt = 0;
      },
      (error) => {
        end();
        end = () => {};
        const isNew = !failedAt;
        failedAt ||= performance.now();
        if (isNew) tell(error);
        // `terminate` of the database ends all listeners.
        if (hasCode(error, "aborted")) return;
        import("./recovery.ts").then(
          (recovery) => {
            wake = recovery.wake;
            if (!hasEnded) end = recovery.retryLater(firestore, failedAt, begin);
          },
          () => {},
        );
      },
    );
  };
  wake(firestore);
  begin();
  return () => {
    hasEnded = true;
    end();
  };
}
