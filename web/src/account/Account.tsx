/** The operator who is signed in, at the top of every view, or a button to sign in. Visitors need no account of their own. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { loadAuthSession, useVisitor } from "../firebase/visitor.ts";
import { SignInForm } from "./SignInForm.tsx";
import { signInDialog } from "./signInDialog.ts";

export function Account({ connection }: { connection: Connection }) {
  const email = useVisitor(connection)?.email;
  const [announcement, setAnnouncement] = useState("");
  const [closings, setClosings] = useState(0);
  const before = useRef(email);
  useEffect(() => {
    if (email) setAnnouncement(`Signed in as ${email}.`);
    else if (before.current) setAnnouncement("Signed out.");
    before.current = email;
  }, [email]);
  const signOut = async () => (await loadAuthSession(connection)).signOut();
  return (
    <div class="account">
      {email && <span title={email}>{email}</span>}
      {/* One button, which keeps the focus when its text changes. */}
      <button type="button" class="link" onClick={email ? signOut : () => signInDialog.current?.showModal()}>
        {email ? "Sign out" : "Sign in"}
      </button>
      <p class="unseen" role="status">
        {announcement}
      </p>
      {/* A closed dialog keeps no password. */}
      <dialog ref={signInDialog} aria-labelledby="sign-in-title" onClose={() => setClosings(closings + 1)}>
        <h2 id="sign-in-title">Sign in as an operator</h2>
        <SignInForm key={closings} connection={connection} signedIn={() => signInDialog.current?.close()} />
        <button type="button" class="link" onClick={() => signInDialog.current?.close()}>
          Cancel
        </button>
      </dialog>
    </div>
  );
}
