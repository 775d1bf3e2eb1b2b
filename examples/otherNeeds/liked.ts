/** Which posts of a list the user has liked. */
import { counter, getIncremented } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

/** 1 read per post. */
export async function likedOf(posts: readonly string[]) {
  const uid = await userId();
  const liked = await Promise.all(posts.map((post) => getIncremented(counter(db, `likes:${post}`), uid)));
  return posts.filter((_, index) => liked[index]);
}
