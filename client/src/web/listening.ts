/** Listeners that begin again after a failure. */
import {
  type DocumentReference,
  type DocumentSnapshot,
  type Firestore,
  type FirestoreError,
  onSnapshot,
} from "firebase/firestore";
import { hasCode } from "./counter.ts";

/** Lets the failed listeners of a database try again. With the first failure, recovery.ts is loaded, which has them. */
let wake: (firestore: Firestore) => void = () => {};

/**
 * Listens to a document and its metadata, and begins again after the SDK has ended the listener, because the rules refuse it.
 * Cost: as `onSnapshot`; a refused listener reads nothing.
 *
 * @param failed - called with an error once, until there is a snapshot again
 * @returns a function that ends it
 */
export function keepListening(
  document: DocumentReference,
  next: (snapshot: DocumentSnapshot) => void,
  failed: (error: FirestoreError) => void,
): () => void {
  const { firestore } = document;
  let failedAt = 0;
  let hasEnded = false;
  let end: () => void;
  const begin = () => {
    end = onSnapshot(
      document,
      { includeMetadataChanges: true },
      (snapshot) => {
        // Before a refusal, the cache answers.
        if (failedAt && snapshot.metadata.fromCache) return;
        failedAt = 0;
        next(snapshot);
      },
      (error) => {
        const isNew = !failedAt;
        failedAt ||= performance.now();
        // `terminate` of the database ends all listeners.
        if (!hasCode(error, "aborted"))
          import("./recovery.ts").then(
            (recovery) => {
              wake = recovery.wake;
              if (!hasEnded) end = recovery.retryLater(firestore, failedAt, again);
            },
            // Without the file, such as after a deployment of the app.
            () => {
              if (hasEnded) return;
              const timer = setTimeout(again, 60_000);
              end = () => clearTimeout(timer);
            },
          );
        if (isNew) failed(error);
      },
    );
  };
  const again = () => {
    try {
      begin();
    } catch {
      // The database was terminated.
    }
  };
  wake(firestore);
  begin();
  return () => {
    hasEnded = true;
    end();
  };
}
