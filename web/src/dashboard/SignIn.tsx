/** Where the rules refuse to show something: who is signed in, and a way to be somebody else. */
import { useId, useState } from "preact/hooks";
import type { Backend } from "../firebase/backend.ts";
import { isRefusal, sessionOf, useAgain, useVisitor } from "../firebase/currentSession.ts";

export interface SignInProps {
  readonly backend: Backend;
  readonly why: string;
  /** What Firestore said. */
  readonly error: Error;
  /** Whether there is more to see than this. */
  readonly folded?: boolean;
  /** Asks again: somebody else is signed in. */
  readonly again: () => void;
}

export function SignIn({ backend, why, error, folded, again }: SignInProps) {
  const visitor = useVisitor(backend);
  const refused = useAgain(backend, error, again);
  const [failure, setFailure] = useState("");
  const id = useId();

  if (!isRefusal(error)) {
    return (
      <section class="state">
        <h2>It could not be read</h2>
        <p>{error.message}</p>
        <button type="button" onClick={again}>
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
      const session = await sessionOf(backend);
      refused.current = await session.signIn(String(data.get("email")), String(data.get("password")));
      again();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return (
    <section class="state sign-in">
      <h2>{why}</h2>
      <p>
        The security rules show them to operators: accounts with the claim <code>operator</code>.
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

/** https://firebase.google.com/docs/auth/admin/errors, of which most would tell who has an account. */
function reasonOf(error: unknown): string {
  switch ((error as { code?: string }).code) {
    case "auth/network-request-failed":
      return "There is no connection.";
    case "auth/too-many-requests":
      return "Too many tries. Wait a while.";
    case "auth/operation-not-allowed":
      return "Sign-in by email is not enabled in this project.";
    default:
      return "That is not an account here, or not its password.";
  }
}
