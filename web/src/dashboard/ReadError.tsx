/** Replaces what could not be read: with a button to sign in if the rules denied it, else with the error. */
import { useRef } from "preact/hooks";
import { signInDialog } from "../account/signInDialog.ts";
import type { Connection } from "../firebase/connection.ts";
import { isPermissionDenied, useRetryOnSignIn, useVisitor } from "../firebase/visitor.ts";
import { useFocusOnMain } from "../page/useFocusOnMain.ts";

export interface ReadErrorProps {
  readonly connection: Connection;
  /** If the rules denied it. */
  readonly title: string;
  /** Of the read. */
  readonly error: Error;
  /** Reads again. */
  readonly retry: () => void;
}

export function ReadError({ connection, title, error, retry }: ReadErrorProps) {
  const visitor = useVisitor(connection);
  const section = useRef<HTMLElement>(null);
  useRetryOnSignIn(connection, error, retry);
  useFocusOnMain(section);

  if (!isPermissionDenied(error)) {
    return (
      <section class="state" ref={section}>
        <h2>Reading failed</h2>
        <p>{error.message}</p>
        <button type="button" onClick={retry}>
          Try again
        </button>
      </section>
    );
  }
  return (
    <section class="state" ref={section}>
      <h2>{title}</h2>
      <p>
        Operators are accounts with the claim <code>operator</code>.
        {visitor?.email && !visitor.isOperator && ` ${visitor.email} has no such claim.`}
      </p>
      <button type="button" onClick={() => signInDialog.current?.showModal()}>
        Sign in
      </button>
    </section>
  );
}
