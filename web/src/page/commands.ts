/** The commands that tell an operator more than the page does, as they can be pasted into a shell. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

/** `npx firestore-tally inspect likes:post42 --project shop` */
export function commandFor({ options, firestore }: FirebaseSetup, command: string, ...ids: string[]): string {
  return [
    "npx firestore-tally",
    command,
    ...ids.map(quoted),
    `--project ${options.projectId}`,
    ...(firestore ? [`--emulator ${firestore.host}:${firestore.port}`] : []),
  ].join(" ");
}

/** For POSIX shells. */
function quoted(text: string): string {
  return /^[\w:.@%+,][\w:.@%+,-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
