/** The same button in React. */
import { counter, onIncremented } from "firestore-tally";
import { useCounter } from "firestore-tally/react";
import { useEffect, useState } from "react";
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
  const [liked, setLiked] = useState<boolean>();
  const [failed, setFailed] = useState(false);
  useEffect(() => onIncremented(likes, user, setLiked, () => setFailed(true)), [likes, user]);

  const toggle = () => (liked ? unlike(post) : like(post)).catch(() => setFailed(true));
  return (
    <button type="button" aria-pressed={liked} disabled={liked === undefined || failed} onClick={toggle}>
      {liked ? "♥" : "♡"} {total}
    </button>
  );
}
