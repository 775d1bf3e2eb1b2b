/** Which operator is signed in, and the way out. */
import type { Backend } from "../firebase/backend.ts";
import { sessionOf, useVisitor } from "../firebase/currentSession.ts";

export function Account({ backend }: { backend: Backend }) {
  const visitor = useVisitor(backend);
  if (!visitor?.email) return null;
  const leave = async () => (await sessionOf(backend)).signOut();
  return (
    <p class="fine account">
      Signed in as {visitor.email}.{" "}
      <button type="button" class="link" onClick={leave}>
        Sign out
      </button>
    </p>
  );
}
