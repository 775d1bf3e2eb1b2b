import { getAuth, signInAnonymously } from "firebase/auth";
import { getFirestore } from "firebase/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { useCounter } from "firestore-tally/react";

export function LikeButton({ post }: { post: string }) {
  const likes = counter(getFirestore(), `likes:${post}`);
  const { total } = useCounter(likes);

  async function like() {
    const auth = getAuth();
    await auth.authStateReady();
    const user = auth.currentUser ?? (await signInAnonymously(auth)).user;
    await incrementCounter(likes, 1, { once: user.uid }); // once per user
  }

  return (
    <button type="button" onClick={() => like().catch(console.error)}>
      ♥ {total ?? "…"}
    </button>
  );
}
