/** The command to run next. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";
import { commandFor } from "./commands.ts";

interface RunProps {
  readonly setup: FirebaseSetup;
  readonly command: "inspect" | "doctor";
  readonly id?: string;
}

export function Run({ setup, command, id }: RunProps) {
  return (
    <>
      Run <code>{commandFor(setup, command, ...(id === undefined ? [] : [id]))}</code>
    </>
  );
}
