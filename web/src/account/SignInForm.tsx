/** The form by which an operator signs in. */
import { useId, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { loadAuthSession } from "../firebase/visitor.ts";

interface SignInFormProps {
  readonly connection: Connection;
  readonly signedIn: () => void;
}

export function SignInForm({ connection, signedIn }: SignInFormProps) {
  const [failure, setFailure] = useState("");
  const id = useId();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    setFailure("");
    try {
      const session = await loadAuthSession(connection);
      await session.signIn(String(data.get("email")), String(data.get("password")));
      signedIn();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return (
    <form class="sign-in" onSubmit={submit}>
      <label htmlFor={`${id}email`}>Email</label>
      <input id={`${id}email`} name="email" type="email" autocomplete="username" required />
      <label htmlFor={`${id}password`}>Password</label>
      <input id={`${id}password`} name="password" type="password" autocomplete="current-password" required />
      <button type="submit">Sign in</button>
      <p class="fine" role="alert">
        {failure}
      </p>
    </form>
  );
}

/** https://firebase.google.com/docs/auth/admin/errors. Most of them are merged: they would reveal which accounts exist. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  switch (code) {
    // The code that signs in could not be loaded.
    case undefined:
      return message;
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
