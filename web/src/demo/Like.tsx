/** A like button: once per visitor, who is nobody until then, and an anonymous user from then on. */
import { counter, incrementCounter, onIncremented, undoIncrement } from "firestore-tally";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useTotal } from "../counter/watching.ts";
import type { Backend } from "../firebase/backend.ts";
import { sessionOf, useVisitor } from "../firebase/currentSession.ts";
import { write } from "../firebase/switching.ts";
import { formatTotal } from "../page/format.ts";

export function Like({ backend, visible }: { backend: Backend; visible: boolean }) {
  const likes = useMemo(() => counter(backend.db, "likes:page"), [backend]);
  const { value } = useTotal(likes, visible);
  const uid = useVisitor(backend)?.uid;
  const [liked, setLiked] = useState(false);
  /** What was clicked and is not known to the database yet. */
  const [wanted, setWanted] = useState<boolean>();
  const [error, setError] = useState("");

  useEffect(() => {
    if (!visible) return;
    if (!uid) return setLiked(false);
    return onIncremented(likes, uid, setLiked, () => {});
  }, [likes, uid, visible]);

  const shown = wanted ?? liked;
  const toggle = async () => {
    // One after the other: what is clicked now would be judged by what is not known yet.
    if (wanted !== undefined) return;
    const want = !shown;
    setWanted(want);
    setError("");
    try {
      const key = await (await sessionOf(backend)).someone();
      await write(() => (want ? incrementCounter(likes, 1, { key }) : undoIncrement(likes, key)));
    } catch {
      setError("That did not work. Are you online?");
    }
    setWanted(undefined);
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
            : "Once per user, and you are an anonymous one; the rules see to that.")}
      </p>
    </div>
  );
}
