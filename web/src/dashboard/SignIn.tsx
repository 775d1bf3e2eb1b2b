/** Replaces a view that could not be read: a sign-in form if the rules denied it, else the error. */
import { SignInForm } from "../account/SignInForm.tsx";
import type { Connection } from "../firebase/connection.ts";
import { isPermissionDenied, useRetryOnSignIn, useVisitor } from "../firebase/visitor.ts";

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
  const signedIn = (uid: string) => {
    denied.current = uid;
    retry();
    // The form, which has the focus, is replaced by what the operator may read.
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  };
  return (
    <section class="state">
      <h2>{title}</h2>
      <p>
        Operators are accounts with the claim <code>operator</code>.
        {visitor?.email && !visitor.isOperator && ` ${visitor.email} has no such claim.`}
      </p>
      <details open={!folded}>
        <summary>Sign in</summary>
        <SignInForm connection={connection} signedIn={signedIn} />
      </details>
    </section>
  );
}
