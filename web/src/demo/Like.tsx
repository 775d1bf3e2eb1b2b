/** A like button, once per visitor. The first click signs the visitor in as an anonymous user. */
import { counter, incrementCounter, onIncremented, undoIncrement } from "firestore-tally";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useTotal } from "../counter/counterHooks.ts";
import type { Connection } from "../firebase/connection.ts";
import { trackWrite } from "../firebase/pendingWrites.ts";
import { loadAuthSession, useVisitor } from "../firebase/visitor.ts";
import { formatTotal } from "../page/format.ts";

export function Like({ connection, visible }: { connection: Connection; visible: boolean }) {
  const likes = useMemo(() => counter(connection.db, "likes:page"), [connection]);
  const value = useTotal(likes, visible).value;
  const uid = useVisitor(connection)?.uid;
  const [liked, setLiked] = useState(false);
  /** The clicked state, from the click until the watch shows it, which may be long after the write is acknowledged. */
  const [wanted, setWanted] = useState<boolean>();
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState("");

  useEffect(() => {
    if (!visible) return;
    if (!uid) return setLiked(false);
    return onIncremented(likes, uid, { next: setLiked, error() {} });
  }, [likes, uid, visible]);
  useEffect(() => {
    if (!isPending && liked === wanted) setWanted(undefined);
  }, [isPending, liked, wanted]);
  // The next user has clicked nothing.
  useEffect(() => (uid ? () => setWanted(undefined) : undefined), [uid]);

  const shown = wanted ?? liked;
  const toggle = async () => {
    // One write at a time: the next one depends on its outcome.
    if (isPending) return;
    const want = !shown;
    setWanted(want);
    setPending(true);
    setError("");
    try {
      const once = await (await loadAuthSession(connection)).ensureUser();
      await trackWrite(() => (want ? incrementCounter(likes, 1, { once }) : undoIncrement(likes, once)));
    } catch {
      setError("That failed. Check your connection, then try again.");
      setWanted(undefined);
    }
    setPending(false);
  };
  return (
    <div class="like">
      <button type="button" id="like" aria-pressed={shown} onClick={toggle}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M12 20.5 4.2 12.6a5 5 0 0 1 7.1-7.1l.7.7.7-.7a5 5 0 0 1 7.1 7.1Z" />
        </svg>
        Like
      </button>
      <p>
        <b id="likes" data-total={value?.total}>
          {value ? formatTotal(value.total) : "–"}
        </b>{" "}
        {value?.total === 1 ? "like" : "likes"}
      </p>
      <p class="fine" role="status" id="like-state">
        {error ||
          (shown
            ? "Yours counts once. Click again to take it back."
            : "Once per user, enforced by the security rules.")}
      </p>
    </div>
  );
}
