/** The same button in React. */
import { counter } from "firestore-tally";
import { useCounter, useIncremented } from "firestore-tally/react";
import { useState } from "react";
import { db } from "../setup/firebase.ts";
import { like, unlike } from "./likes.ts";

interface Props {
  post: string;
  /** The uid; `null` after a sign-out: the next like signs in. */
  user: string | null;
  /** What `getCounter` of the server returned. */
  initialTotal: { total: number; version: number };
}

export function LikeButton({ post, user, initialTotal }: Props) {
  const likes = counter(db, `likes:${post}`);
  const { total } = useCounter(likes, { initialTotal });
  const hasLiked = useIncremented(likes, user ?? undefined);
  const liked = user === null ? false : hasLiked;
  const [failed, setFailed] = useState(false);

  const toggle = async () => {
    setFailed(false);
    await (liked ? unlike(post) : like(post)).catch(() => setFailed(true));
  };
  return (
    <>
      <button type="button" aria-pressed={liked} disabled={liked === undefined} onClick={toggle}>
        {liked ? "♥" : "♡"} {total}
      </button>
      {failed && <span role="alert">That did not work. Please try again.</span>}
    </>
  );
}
