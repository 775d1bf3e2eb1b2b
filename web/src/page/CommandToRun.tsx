/** A command of the command line, whose lines end between its words. */
import { Fragment } from "preact";
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";
import { commandFor } from "./commands.ts";

interface CommandToRunProps {
  readonly setup: FirebaseSetup;
  readonly command: "inspect" | "doctor";
  readonly id?: string;
}

export function CommandToRun({ setup, command, id }: CommandToRunProps) {
  const words = commandFor(setup, command, id).split(" ");
  return (
    <code>
      {words.map((word, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: words do not move.
        <Fragment key={place}>
          {place > 0 && " "}
          <span class="word">{word}</span>
        </Fragment>
      ))}
    </code>
  );
}
