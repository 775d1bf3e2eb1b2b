/** A list of posts by their likes: the number is a field of each post, which the functions write. */
import { addDoc, collection, getDocs, limit, orderBy, query } from "firebase/firestore";
import { db, userId } from "../setup/firebase.ts";

const posts = collection(db, "posts");

export async function publish(title: string) {
  const author = await userId();
  const { id } = await addDoc(posts, { author, title, likes: 0 });
  return id;
}

export async function mostLiked(most: number) {
  const list = query(posts, orderBy("likes", "desc"), limit(most));
  const { docs } = await getDocs(list);
  return docs.map((post) => [post.get("title"), post.get("likes")]);
}
