/** The signed-in operator, and a button to sign out. */
import type { Connection } from "../firebase/connection.ts";
import { loadAuthSession, useVisitor } from "../firebase/visitor.ts";

export function Account({ connection }: { connection: Connection }) {
  const visitor = useVisitor(connection);
  if (!visitor?.email) return null;
  const signOut = async () => (await loadAuthSession(connection)).signOut();
  return (
    <p class="fine">
      Signed in as {visitor.email}.{" "}
      <button type="button" class="link" onClick={signOut}>
        Sign out
      </button>
    </p>
  );
}
