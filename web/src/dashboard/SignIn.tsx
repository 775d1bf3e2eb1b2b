/** Replaces a view that could not be read: a sign-in form if the rules denied it, else the error. */
import { useId, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { isPermissionDenied, loadAuthSession, useRetryOnSignIn, useVisitor } from "../firebase/visitor.ts";

export interface SignInProps {
  readonly connection: Connection;
  /** If the rules denied it. */
  readonly title: string;
  /** Of the read. */
  readonly error: Error;
  /** Whether the form is closed at first, as one part of a view. */
  readonly folded?: boolean;
  /** Reads again. */
  readonly retry: () => void;
}

export function SignIn({ connection, title, error, folded, retry }: SignInProps) {
  const visitor = useVisitor(connection);
  const denied = useRetryOnSignIn(connection, error, retry);
  const [failure, setFailure] = useState("");
  const id = useId();

  if (!isPermissionDenied(error)) {
    return (
      <section class="state">
        <h2>Reading failed</h2>
        <p>{error.message}</p>
        <button type="button" onClick={retry}>
          Try again
        </button>
      </section>
    );
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    setFailure("");
    try {
      const session = await loadAuthSession(connection);
      denied.current = await session.signIn(String(data.get("email")), String(data.get("password")));
      retry();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return (
    <section class="state sign-in">
      <h2>{title}</h2>
      <p>
        Operators are accounts with the claim <code>operator</code>.
        {visitor?.email && !visitor.isOperator && ` ${visitor.email} has no such claim.`}
      </p>
      <details open={!folded}>
        <summary>Sign in</summary>
        <form onSubmit={submit}>
          <label htmlFor={`${id}email`}>Email</label>
          <input id={`${id}email`} name="email" type="email" autocomplete="username" required />
          <label htmlFor={`${id}password`}>Password</label>
          <input id={`${id}password`} name="password" type="password" autocomplete="current-password" required />
          <button type="submit">Sign in</button>
          <p class="fine" role="alert">
            {failure}
          </p>
        </form>
      </details>
    </section>
  );
}

/** https://firebase.google.com/docs/auth/admin/errors. Most of them are merged: they would reveal which accounts exist. */
function reasonOf(error: unknown): string {
  switch ((error as { code?: string }).code) {
    case "auth/network-request-failed":
      return "No connection. Check it, then try again.";
    case "auth/too-many-requests":
      return "Too many attempts. Wait some minutes, then try again.";
    case "auth/operation-not-allowed":
      return "Sign-in by email is not enabled: enable it in the Firebase console.";
    default:
      return "Unknown account or wrong password.";
  }
}
