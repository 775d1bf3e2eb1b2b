/** The command to run next. */
import { Fragment } from "preact";
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";
import { commandFor } from "./commands.ts";

interface RunProps {
  readonly setup: FirebaseSetup;
  readonly command: "inspect" | "doctor";
  readonly id?: string;
}

export function Run({ setup, command, id }: RunProps) {
  const words = commandFor(setup, command, ...(id === undefined ? [] : [id])).split(" ");
  return (
    <>
      Run{" "}
      <code>
        {words.map((word, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: words do not move.
          <Fragment key={place}>
            {place > 0 && " "}
            <span class="word">{word}</span>
          </Fragment>
        ))}
      </code>
    </>
  );
}
