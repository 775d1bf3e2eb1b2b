/** Comments: the functions count the documents, and put the number into the post. */

import {
  addDoc,
  collection,
  deleteDoc,
  doc,
  getDocs,
  limit,
  orderBy,
  query,
  serverTimestamp,
} from "firebase/firestore";
import { counter, onCounter } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

const commentsOf = (post: string) => collection(db, `posts/${post}/comments`);

export async function comment(post: string, text: string) {
  const written = await addDoc(commentsOf(post), { author: await userId(), text, at: serverTimestamp() });
  return written.id;
}

export async function removeComment(post: string, id: string) {
  await deleteDoc(doc(commentsOf(post), id));
}

export function watchNumber(post: string, show: (comments: number) => void) {
  return onCounter(counter(db, `comments:${post}`), ({ total }) => show(total));
}

/** The most discussed posts, each with its number, for 1 read per post. */
export async function mostDiscussed(most: number) {
  const posts = await getDocs(query(collection(db, "posts"), orderBy("comments", "desc"), limit(most)));
  return posts.docs.map((post) => ({ id: post.id, comments: post.get("comments") as number }));
}
