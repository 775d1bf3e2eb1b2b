/** The same button in React. */
import { counter } from "firestore-tally";
import { useCounter, useIncremented } from "firestore-tally/react";
import { useState } from "react";
import { db } from "../setup/firebase.ts";
import { like, unlike } from "./likes.ts";

interface Props {
  post: string;
  user: string;
  /** The total that the server rendered, or 0. */
  initialTotal: number;
}

export function LikeButton({ post, user, initialTotal }: Props) {
  const likes = counter(db, `likes:${post}`);
  const { total } = useCounter(likes, { initialTotal });
  const { incremented: liked, error } = useIncremented(likes, user);
  const [failed, setFailed] = useState(false);

  const toggle = () => (liked ? unlike(post) : like(post)).catch(() => setFailed(true));
  return (
    <button
      type="button"
      aria-pressed={liked}
      disabled={liked === undefined || failed || error !== undefined}
      onClick={toggle}
    >
      {liked ? "♥" : "♡"} {total}
    </button>
  );
}
